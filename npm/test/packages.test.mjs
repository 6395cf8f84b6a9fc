// The packages as users have them: packed, installed into an empty folder and run there.
//
//   node --test npm/test          TRACEMILL is the program that is packed [default: target/debug/tracemill]
import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, test } from "node:test";

const root = resolve(import.meta.dirname ?? new URL(".", import.meta.url).pathname, "../..");
const binary = resolve(process.env.TRACEMILL ?? join(process.env.CARGO_TARGET_DIR ?? join(root, "target"), "debug/tracemill"));
const platform = `${process.platform}-${process.arch}${process.platform === "linux" ? "-gnu" : ""}`;
const home = realpathSync(mkdtempSync(join(tmpdir(), "tracemill npm ")));
after(() => rmSync(home, { recursive: true }));

// a folder with a space, with nothing but what npm puts there
const folder = join(home, "an app");
mkdirSync(folder);
// in the place of tracemill-query, which takes long to build
const query = join(home, "query");
writeFileSync(query, '#!/bin/sh\nprintf "%s|" "$TRACEMILL_VERSION" "$@"\n', { mode: 0o755 });
execFileSync(join(root, "scripts/npm"), ["--debug", "-d", join(home, "packages"), `${platform}=${binary}`, `sql-${platform}=${query}`]);
const packed = readdirSync(join(home, "packages")).map((name) => join(home, "packages", name));
const packages = packed.filter((file) => !file.includes("tracemill-sql-"));
execFileSync("npm", ["install", "--offline", "--ignore-scripts", "--no-audit", "--no-fund", "--silent", ...packages], { cwd: folder });

const wrapper = join(folder, "node_modules/tracemill/bin/tracemill.js");
const options = { cwd: folder, encoding: "utf8", env: { ...process.env, NO_UPDATE_NOTIFIER: "1", npm_config_update_notifier: "false" } };
const npx = (...words) => spawnSync("npx", ["--offline", "tracemill", ...words], options);

/** How a process ends, and what it said until then. */
function end(child) {
  let said = "";
  child.stdout?.on("data", (text) => (said += text));
  child.stderr?.on("data", (text) => (said += text));
  return new Promise((done) => child.on("close", (status, signal) => done({ status, signal, said })));
}

/** Waits until a stream has said this. */
function until(child, text) {
  let said = "";
  return new Promise((done, fail) => {
    child.stdout.on("data", (piece) => (said += piece).includes(text) && done());
    child.on("close", () => fail(new Error(`it ended before it said ${text}: ${said}`)));
  });
}

test("npx runs the program", () => {
  const version = execFileSync(binary, ["--version"], { encoding: "utf8" });
  assert.equal(npx("--version").stdout, version);
  assert.match(version, new RegExp(JSON.parse(readFileSync(join(folder, "node_modules/tracemill/package.json"))).version));
});

test("from an empty folder to the first slice it takes less than a minute", () => {
  const empty = join(home, "empty");
  mkdirSync(empty);
  const begun = Date.now();
  execFileSync("npm", ["install", "--offline", "--no-audit", "--no-fund", "--silent", ...packages], { cwd: empty });
  const words = ["slice", "-q", join(root, "testdata/node/trace.json"), "--from", "100ms", "--duration", "20ms", "-o", "part.json"];
  execFileSync("npx", ["--offline", "tracemill", ...words], { ...options, cwd: empty });
  assert.ok(JSON.parse(readFileSync(join(empty, "part.json"))).traceEvents.length > 10);
  assert.ok(Date.now() - begun < 60_000, `${Date.now() - begun} ms`);
  console.log(`${Date.now() - begun} ms to the first slice`);
});

test("words, pipes and status pass through", () => {
  writeFileSync(join(folder, "two words.json"), '[{"ph":"i","ts":1,"pid":1,"tid":1,"name":"a","s":"t"}]');
  const run = npx("convert", "--format", "ndjson", "two words.json");
  assert.equal(run.status, 0, run.stderr);
  assert.match(run.stdout, /"name":"a"/);
  assert.equal(npx("info", "nothing.json").status, 3);
  assert.equal(npx("--no-such-flag").status, 2);
  const piped = spawnSync("sh", ["-c", "cat 'two words.json' | npx --offline tracemill merge - | grep -c name"], options);
  assert.equal(piped.stdout, "1\n");
});

test("record runs a program and passes its status on", () => {
  const program = "const end = Date.now() + 100; let n = 0; while (Date.now() < end) n += Math.sqrt(n + 1); process.exitCode = 3;";
  writeFileSync(join(folder, "app.mjs"), program);
  const run = npx("record", "-o", "app.json.gz", "--", "node", "app.mjs");
  assert.equal(run.status, 3, run.stderr);
  assert.match(run.stderr, /1 CPU profile of 1 process/);
  assert.equal(npx("check", "--for", "devtools", "app.json.gz").status, 0);
});

test("Ctrl-C ends the program that is recorded, and its trace is written", async () => {
  writeFileSync(join(folder, "endless.cjs"), "console.log('it runs'); setInterval(() => { for (let n = 0; n < 1e6; n++); }, 1);");
  const line = "npx --offline tracemill record -o endless.json -- node endless.cjs";
  const terminal = spawn("script", ["-qefc", line, "/dev/null"], { ...options, stdio: ["pipe", "pipe", "inherit"] });
  await until(terminal, "it runs");
  terminal.stdin.write("\x03");
  const { status, said } = await end(terminal);
  assert.equal(status, 130, said);
  assert.match(said, /1 CPU profile of 1 process/);
  assert.equal(npx("check", "--for", "devtools", "endless.json").status, 0);
});

test("signals reach the program and its end is the script's", async () => {
  // it waits for its input
  const begun = async () => {
    const child = spawn(process.execPath, [wrapper, "merge", "-"], { ...options, stdio: ["pipe", "pipe", "pipe"] });
    const ended = end(child);
    await new Promise((done) => setTimeout(done, 1000));
    return { child, ended };
  };
  for (const [signal, status] of [["SIGINT", 130], ["SIGTERM", 143]]) {
    const { child, ended } = await begun();
    child.kill(signal);
    const { said, ...how } = await ended;
    assert.deepEqual(how, { status, signal: null }, said);
  }
  const { child, ended } = await begun();
  execFileSync("pkill", ["-KILL", "-P", String(child.pid)]);
  assert.equal((await ended).signal, "SIGKILL");
});

test("a package that is missing or broken is told, with what to do", () => {
  const fake = (text) => {
    writeFileSync(join(home, "fake.cjs"), text);
    return spawnSync(process.execPath, ["-r", join(home, "fake.cjs"), wrapper, "--version"], options);
  };
  const other = fake("Object.defineProperty(process, 'platform', { value: 'win32' })");
  assert.equal(other.status, 4);
  assert.match(other.stderr, new RegExp(`npm has no program for win32 on ${process.arch}, only @tracemill/${platform}\\. It runs in WSL\\.`));

  // where both are installed, the one for the system's C library is taken
  const manifest = join(folder, "node_modules/tracemill/package.json");
  const own = readFileSync(manifest, "utf8");
  if (process.platform === "linux") {
    const musl = join(folder, "node_modules/@tracemill", platform.replace("gnu", "musl"));
    mkdirSync(join(musl, "bin"), { recursive: true });
    writeFileSync(join(musl, "bin/tracemill"), "#!/bin/sh\necho musl\n", { mode: 0o755 });
    writeFileSync(manifest, own.replace(`"@tracemill/${platform}"`, `"@tracemill/${platform.replace("gnu", "musl")}": "0", $&`));
    assert.match(fake("").stdout, /^tracemill /);
    assert.equal(fake("process.report.getReport = () => ({ header: {} })").stdout, "musl\n");
    rmSync(musl, { recursive: true });
    writeFileSync(manifest, own);
  }

  const program = join(folder, "node_modules/@tracemill", platform, "bin/tracemill");
  chmodSync(program, 0o644);
  assert.match(fake("").stderr, /^tracemill: cannot start .*EACCES.* install again/);

  rmSync(join(folder, "node_modules/@tracemill"), { recursive: true });
  const run = npx("--version");
  assert.equal(run.status, 4);
  assert.match(run.stderr, new RegExp(`@tracemill/${platform} is not installed.*npm install --include=optional tracemill@`));
});

test("npx finds tracemill-query where it is installed", () => {
  const words = ["tracemill", "query", "SELECT 1", "a b.json"];
  const without = spawnSync("npx", ["--offline", ...words], { ...options, cwd: join(home, "empty") });
  assert.equal(without.status, 2);
  assert.match(without.stderr, /npm \(@tracemill\/sql\)/);
  const full = join(home, "with sql");
  mkdirSync(full);
  execFileSync("npm", ["install", "--offline", "--no-audit", "--no-fund", "--silent", ...packed], { cwd: full });
  const { version } = JSON.parse(readFileSync(join(full, "node_modules/@tracemill/sql/package.json")));
  const run = spawnSync(process.execPath, [join(full, "node_modules/tracemill/bin/tracemill.js"), ...words.slice(1)], { ...options, cwd: full });
  assert.equal(run.stdout, `${version}|query|SELECT 1|a b.json|`, run.stderr);
});

test("packages have licences, no script, and no path of this machine", () => {
  assert.equal(packages.length, 2);
  assert.equal(packed.length, 4);
  for (const file of packed) {
    const unpacked = mkdtempSync(join(home, "unpacked-"));
    execFileSync("tar", ["xzf", file, "-C", unpacked, "--strip-components=1"]);
    const names = readdirSync(unpacked, { recursive: true }).filter((name) => existsSync(join(unpacked, name)));
    assert.ok(names.includes("LICENSE-MIT") && names.includes("LICENSE-APACHE"), names);
    const manifest = JSON.parse(readFileSync(join(unpacked, "package.json")));
    assert.equal(manifest.scripts, undefined);
    assert.equal(names.includes("LICENSES-THIRD-PARTY.txt"), manifest.name.endsWith(platform));
    // the program is a debug build here; scripts/npm looks into those that are packed for others
    const texts = names.filter((name) => !name.startsWith("bin") || name.endsWith(".js"));
    execFileSync(join(root, "scripts/release/paths"), texts.map((name) => join(unpacked, name)));
  }
  writeFileSync(join(home, "built-here"), `panicked at ${root}/crates/cli/src/main.rs`);
  const refused = spawnSync(join(root, "scripts/npm"), ["-d", join(home, "refused"), `${platform}=${join(home, "built-here")}`], options);
  assert.match(refused.stderr, /built-here holds .* a folder of this machine/);
  assert.deepEqual(readdirSync(join(home, "refused")), []);
});
