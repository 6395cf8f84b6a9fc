#!/usr/bin/env node
// Runs the program of the package that npm chose for this machine; signals and status pass through.
"use strict";

const { spawn } = require("child_process");
const { createRequire } = require("module");
const { constants } = require("os");
const { delimiter, dirname } = require("path");
const { isatty } = require("tty");
const { version, optionalDependencies } = require("../package.json");

/** The packages that could have the program of this machine, the best first. */
function candidates() {
  const machine = `@tracemill/${process.platform}-${process.arch}`;
  const names = [`${machine}-gnu`, `${machine}-musl`, machine].filter((name) => name in optionalDependencies);
  return names.length > 1 && !hasGlibc() ? names.reverse() : names;
}

/** Whether the system's C library is the GNU one, which Node was built for too. */
function hasGlibc() {
  // addresses of the machine are looked up for the report otherwise, which can take seconds
  process.report.excludeNetwork = true;
  return process.report.getReport().header.glibcVersionRuntime !== undefined;
}

/** The file of a package's program, or nothing. */
function program(name) {
  try {
    return require.resolve(`${name}/bin/tracemill`);
  } catch {
    return undefined;
  }
}

/** The environment, in which the program finds tracemill-query on PATH if @tracemill/sql is installed. */
function environment() {
  try {
    const sql = createRequire(require.resolve("@tracemill/sql/package.json"));
    const names = candidates().map((name) => name.replace("/", "/sql-"));
    const name = names.find((own) => own in sql("./package.json").optionalDependencies);
    const folder = dirname(sql.resolve(`${name}/bin/tracemill-query`));
    return { ...process.env, PATH: [folder, process.env.PATH].filter(Boolean).join(delimiter) };
  } catch {
    return process.env;
  }
}

function fail(text) {
  console.error(`tracemill: ${text}`);
  process.exit(4);
}

function missing(names) {
  if (names.length === 0) {
    const hint = process.platform === "win32" ? "It runs in WSL." : "Where there is Rust, `cargo install tracemill` builds one.";
    fail(`npm has no program for ${process.platform} on ${process.arch}, only ${Object.keys(optionalDependencies).join(", ")}. ${hint}`);
  }
  fail(
    `${names.join(" or ")} is not installed, which has the program for this machine. npm leaves it out with --omit=optional, ` +
      "and where node_modules or a lockfile came from a machine of another kind. Remove node_modules, then " +
      `\`npm install --include=optional tracemill@${version}\`.`,
  );
}

function run(file) {
  const child = spawn(file, process.argv.slice(2), { stdio: "inherit", env: environment() });
  // process.stdin is not touched: Node would have reads of the program fail where there is nothing to read yet
  const isTerminal = [0, 1, 2].some((descriptor) => isatty(descriptor));
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.on(signal, () => {
      // what Ctrl-C sends, the terminal has sent to the program too; a second one would end what the first began
      if (!(signal === "SIGINT" && isTerminal)) child.kill(signal);
    });
  }
  child.on("error", (error) => fail(`cannot start ${file}: ${error.message}. Remove node_modules and install again.`));
  child.on("exit", (status, signal) => {
    if (signal === null) process.exit(status);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
    // signals that Node does not die of
    setTimeout(() => process.exit(128 + constants.signals[signal]), 100);
  });
}

const names = candidates();
const file = names.map(program).find((found) => found !== undefined);
if (file === undefined) missing(names);
run(file);
