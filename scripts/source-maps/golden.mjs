// What others say of the functions of a profile: node golden.mjs PROFILE SOURCES
//
// Prints a line for each function whose script has a map, tab-separated: URL, line, column and name as recorded; then source, line, column
// and name as @jridgewell/trace-mapping has them; then the function's name in the source as TypeScript's parser has it, - if it has none.
import { AnyMap, originalPositionFor } from "@jridgewell/trace-mapping";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { join } from "node:path";
import ts from "typescript";

const [profile, sources] = process.argv.slice(2);
const { nodes } = JSON.parse(readFileSync(profile, "utf8"));

function mapOf(url) {
  const script = fileURLToPath(url);
  if (existsSync(`${script}.map`)) return new AnyMap(JSON.parse(readFileSync(`${script}.map`, "utf8")), url);
  const inline = readFileSync(script, "utf8").match(/sourceMappingURL=data:[^,]*;base64,([A-Za-z0-9+/=]+)/);
  return inline && new AnyMap(JSON.parse(Buffer.from(inline[1], "base64").toString()), url);
}

// functions of a source: from where their heads begin to where their bodies do, and their names by the rules of the language
const known = new Map();
function functionsOf(source) {
  const file = ["main.ts", "lib/hot.ts"].find((own) => source.endsWith(`src/${own}`) || source.endsWith(`/${own}`));
  if (file === undefined) return undefined;
  if (known.has(file)) return known.get(file);
  const text = readFileSync(join(sources, file), "utf8");
  const parsed = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const all = [];
  const visit = (node) => {
    if (ts.isFunctionLike(node) && node.body) {
      const { parent } = node;
      const named = [ts.isVariableDeclaration, ts.isPropertyAssignment, ts.isPropertyDeclaration].some((is) => is(parent)) && parent.initializer === node;
      const name = node.name ?? (named ? parent.name : undefined);
      const own = ts.isConstructorDeclaration(node) ? node.parent.name : name;
      const start = (named ? parent : node).getStart();
      all.push({ start, end: node.body.getStart(), name: own && (ts.isStringLiteral(own) ? own.text : own.getText()) });
    }
    ts.forEachChild(node, visit);
  };
  visit(parsed);
  known.set(file, { all, at: (line, column) => parsed.getPositionOfLineAndCharacter(line, column) });
  return known.get(file);
}

const lines = new Set();
for (const { callFrame: { url, lineNumber, columnNumber, functionName } } of nodes) {
  if (!url.startsWith("file:")) continue;
  const map = mapOf(url);
  if (!map) throw new Error(`no map: ${url}`);
  const own = originalPositionFor(map, { line: lineNumber + 1, column: columnNumber });
  const functions = own.source === null ? undefined : functionsOf(own.source);
  const at = functions?.at(own.line - 1, own.column);
  // the whole of a module is no function of the source
  const heads = lineNumber === 0 && columnNumber === 0 ? [] : functions?.all.filter(({ start, end }) => start <= at && at <= end) ?? [];
  const innermost = heads.sort((a, b) => b.start - a.start)[0];
  const text = [url, lineNumber, columnNumber, functionName, own.source, own.line === null ? null : own.line - 1, own.column, own.name, innermost?.name];
  lines.add(text.map((value) => value ?? "-").join("\t"));
}
console.log([...lines].sort().join("\n"));
