// Builds src/main.ts with six programs into dist/NAME, each with its maps: node build.mjs
import { transformFile } from "@swc/core";
import terser from "@rollup/plugin-terser";
import typescript from "@rollup/plugin-typescript";
import { build as esbuild } from "esbuild";
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { rollup } from "rollup";
import { build as vite } from "vite";
import webpack from "webpack";

const entry = resolve("src/main.ts");

// linked, minified, one file
await esbuild({
  entryPoints: [entry], outfile: "dist/esbuild/app.js", bundle: true, minify: true, sourcemap: "linked", format: "esm", logLevel: "error",
});

// linked; places by webpack:// with the bundler's own modules among them
await new Promise((done, fail) => {
  webpack({
    mode: "production", devtool: "source-map", entry, target: "node",
    output: { path: resolve("dist/webpack"), filename: "app.js", library: { type: "commonjs2" } },
    module: { rules: [{ test: /\.ts$/, use: "ts-loader" }] },
    resolve: { extensions: [".ts", ".js"] },
  }, (error, stats) => (error || stats.hasErrors() ? fail(error ?? stats.toString()) : done()));
});
writeFileSync("dist/webpack/package.json", '{"type":"commonjs"}\n');

// no comment in the file: the map is found by its name alone
const bundle = await rollup({ input: entry, plugins: [typescript({ tsconfig: "tsconfig.json" }), terser({ module: true })] });
await bundle.write({ file: "dist/rollup/app.js", format: "es", sourcemap: "hidden" });

// the map stands in the file, as a data: URL
await vite({
  logLevel: "error", configFile: false,
  build: { outDir: "dist/vite", sourcemap: "inline", minify: true, lib: { entry, formats: ["es"], fileName: "app" } },
});

// a file for each source, names shortened
for (const file of ["main.ts", "lib/hot.ts"]) {
  const { code, map } = await transformFile(join("src", file), {
    sourceMaps: true, filename: join("src", file), configFile: false, swcrc: false, minify: true, outputPath: join("dist/swc", dirname(file)),
    module: { type: "commonjs" },
    jsc: { target: "es2022", parser: { syntax: "typescript" }, minify: { mangle: { toplevel: true }, compress: false } },
  });
  const target = join("dist/swc", file.replace(/\.ts$/, ".js"));
  mkdirSync(dirname(target), { recursive: true });
  const name = target.split("/").at(-1);
  writeFileSync(target, `${code}\n//# sourceMappingURL=${name}.map\n`);
  writeFileSync(`${target}.map`, map);
}
writeFileSync("dist/swc/package.json", '{"type":"commonjs"}\n');

// a file for each source, nothing shortened, and sources that are not in the maps
execFileSync("node_modules/.bin/tsc", ["-p", "tsconfig.json", "--outDir", "dist/tsc", "--module", "commonjs", "--sourceMap", "--ignoreDeprecations", "5.0"], { stdio: "inherit" });
writeFileSync("dist/tsc/package.json", '{"type":"commonjs"}\n');
