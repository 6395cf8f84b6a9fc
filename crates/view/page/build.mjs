// Builds the page: `node build.mjs FOLDER` writes app.js and app.css there; `--test` makes what tests in Node import.
import { build } from 'esbuild';
import { mkdirSync } from 'node:fs';
import path from 'node:path';

const here = import.meta.dirname;
const common = { bundle: true, format: 'esm', target: 'es2022', absWorkingDir: here, logLevel: 'warning' };

if (process.argv[2] === '--test') {
  const entryPoints = ['counter.ts', 'damage.ts', 'format.ts', 'mainload.ts', 'model.ts', 'order.ts', 'raster.ts', 'strips.ts', 'tiles.ts', 'tip.ts'];
  await build({ ...common, entryPoints, outdir: 'test/built', platform: 'node', outExtension: { '.js': '.mjs' } });
} else {
  const folder = path.resolve(process.argv[2]);
  mkdirSync(folder, { recursive: true });
  await build({ ...common, entryPoints: ['main.ts'], outfile: path.join(folder, 'app.js'), minify: true, charset: 'utf8' });
  await build({ ...common, entryPoints: ['app.css'], outfile: path.join(folder, 'app.css'), minify: true });
}
