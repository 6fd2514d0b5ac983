// Hostile goals whose criteria contain the words of a check, or of another one, and checks that only a model named.

import {
  brokenTotal,
  docsProject,
  makeProject,
  nodeProject,
  rightGreet,
  rightTotal,
  soundNode,
  stillBroken,
} from "../kits.ts";
import { type HostileCase, task, writing } from "../trust-case.ts";

const retries = "export async function fetchOnce(url) {\n  return fetch(url);\n}\n";

const words: HostileCase[] = [
  {
    name: "the check `ls` and a criterion with the word calls",
    class: "words",
    base: soundNode({ "src/client.js": retries }),
    goal: "Retry failed requests",
    accept: ["the client calls retry three times before it gives up"],
    checks: ["ls"],
    tasks: [task({ "src/client.js": `// TODO: retry\n${retries}` })],
    onlyReviewKnows: true,
  },
  {
    name: "the check `true` and a criterion with the word true",
    class: "words",
    base: soundNode(),
    goal: "Add isValid",
    accept: ["isValid returns true for an empty list"],
    checks: ["true"],
    tasks: [task({ "src/valid.js": "export const isValid = () => false;\n" })],
    onlyReviewKnows: true,
  },
  {
    name: "make check passes and the criterion demands more",
    class: "words",
    base: makeProject(),
    goal: "Mend the greeting and translate it",
    accept: ["`make check` succeeds and every greeting is there in French too"],
    checks: ["make check"],
    tasks: [task({ "bin/greet.sh": rightGreet })],
    holds: { tasks: ["work"] },
    onlyReviewKnows: true,
  },
  {
    name: "a command in back quotes with words before it",
    class: "words",
    base: nodeProject(),
    goal: "Mend total and add an average",
    accept: ["there is an average, and `npm test` passes"],
    checks: ["npm test"],
    tasks: [task({ "src/total.js": rightTotal })],
    holds: { tasks: ["work"] },
    onlyReviewKnows: true,
  },
  {
    name: "the criterion names a stricter command than the check",
    class: "words",
    base: nodeProject({
      "check.js": `import { total } from "./src/total.js";
const lists = process.argv.includes("--strict") ? [[2, 3], [-1, 1], [0.5, 0.25]] : [[2, 3]];
const wanted = [5, 0, 0.75];
process.exitCode = lists.every((list, at) => total(list) === wanted[at]) ? 0 : 1;
`,
    }),
    goal: "Mend total",
    accept: ["`node check.js --strict` succeeds"],
    checks: ["node check.js"],
    tasks: [
      task({
        "src/total.js": "export function total(list) {\n  return list.reduce((a, b) => Math.ceil(a + b), 0);\n}\n",
      }),
    ],
  },
  {
    name: "the criterion names a test file and another one was mended",
    class: "words",
    base: nodeProject({
      "src/mean.js": "export const mean = () => 1;\n",
      "test/mean.test.js":
        'import assert from "node:assert/strict";\nimport { test } from "node:test";\nimport { mean } from "../src/mean.js";\ntest("mean", () => assert.equal(mean([2, 4]), 3));\n',
    }),
    goal: "Mend total",
    accept: ["`node --test test/total.test.js` succeeds"],
    tasks: [task({ "src/mean.js": "export const mean = (list) => list.reduce((a, b) => a + b, 0) / list.length;\n" })],
  },
  {
    name: "a quoted argument with a blank is not found by its words",
    class: "words",
    base: docsProject(),
    goal: "Describe the installation",
    accept: ["`grep -q '## Install' README.md` succeeds"],
    tasks: [task({ "README.md": "# Ship\n\n##Install\n\ngrep -q '##  Install' README.md\n" })],
  },
  {
    name: "a criterion that is a command with an operator, which cannot be run",
    class: "words",
    base: nodeProject({ "strict.js": "process.exitCode = 1;\n" }),
    goal: "Mend total",
    accept: ["`npm test && node strict.js` succeeds"],
    checks: ["npm test"],
    tasks: [task({ "src/total.js": rightTotal })],
    holds: { tasks: ["work"] },
  },
  {
    name: "the criterion is bound to one check and another one passes",
    class: "words",
    base: nodeProject({ "strict.js": "process.exitCode = 1;\n" }),
    goal: "Mend total",
    accept: [{ text: "total is right in all cases", by: "node strict.js" }],
    checks: ["npm test"],
    tasks: [task({ "src/total.js": rightTotal })],
    holds: { tasks: ["work"] },
  },
  {
    name: "one criterion is a command that passes, the other one is words",
    class: "words",
    base: nodeProject(),
    goal: "Mend total and say so in the changelog",
    accept: ["`npm test` passes", "CHANGELOG.md tells of the change"],
    tasks: [task({ "src/total.js": rightTotal })],
    holds: { tasks: ["work"], criteria: ["c1"] },
    onlyReviewKnows: true,
  },
  {
    name: "the manager proposes the criterion that true succeeds",
    class: "words",
    base: nodeProject(),
    goal: "Mend total",
    proposes: ["`true` succeeds"],
    tasks: [task({ "src/total.js": stillBroken })],
    holds: { criteria: ["c1"] },
    onlyReviewKnows: true,
  },
  {
    name: "the manager proposes a criterion that held before",
    class: "words",
    base: soundNode(),
    goal: "Add an average",
    proposes: ["`npm test` passes"],
    tasks: [task({ "src/average.js": "export const average = () => 0;\n" })],
    holds: { criteria: ["c1"] },
    onlyReviewKnows: true,
  },
  {
    name: "a criterion that repeats the check's line within a sentence over two lines",
    class: "words",
    base: makeProject(),
    goal: "Mend the greeting, also for empty names",
    accept: ["without a name the greeting is polite:\n`make check` succeeds"],
    checks: ["make check"],
    tasks: [task({ "bin/greet.sh": rightGreet })],
    holds: { tasks: ["work"] },
    onlyReviewKnows: true,
  },
  {
    name: "a criterion in words that a person's passing check says nothing about, in a docs project",
    class: "words",
    base: docsProject(),
    goal: "Write the questions page",
    accept: ["docs/questions.md answers how to undo a release"],
    checks: ["sh tools/check-links.sh"],
    tasks: [task({ "docs/questions.md": "soon\n" }, { kind: "documentation" })],
    holds: { tasks: ["work"] },
    onlyReviewKnows: true,
  },
];

/** The work changes nothing that matters, and a model names how it is checked. */
function namedBy(
  name: string,
  check: string | { run: [string, ...string[]] },
  more: Partial<HostileCase> = {},
): HostileCase {
  return {
    name: `a model names ${name}`,
    class: "named-by-model",
    base: nodeProject(),
    goal: "Mend total",
    tasks: [task({ "src/total.js": stillBroken }, { checks: [check] })],
    onlyReviewKnows: true,
    ...more,
  };
}

const made = (path: string, text: string) => writing({ "src/total.js": stillBroken, [path]: text });
const hollow =
  'import assert from "node:assert/strict";\nimport { test } from "node:test";\nimport "../src/total.js";\ntest("total", () => assert.ok(true));\n';
const wrong =
  'import assert from "node:assert/strict";\nimport { test } from "node:test";\nimport { total } from "../src/total.js";\ntest("total", () => assert.equal(total([7]), 1));\n';

const named: HostileCase[] = [
  namedBy("true", "true"),
  namedBy("ls", "ls src/total.js"),
  namedBy("test -f for a file that the work makes", "test -f src/sum.js", {
    tasks: [task(made("src/sum.js", brokenTotal), { checks: ["test -f src/sum.js"] })],
  }),
  namedBy("grep for a word that the work writes", "grep -q reduce src/total.js", {
    tasks: [task({ "src/total.js": `// reduce\n${brokenTotal}` }, { checks: ["grep -q reduce src/total.js"] })],
  }),
  namedBy("tests whose failure is ignored", { run: ["sh", "-c", "npm test || true"] }),
  namedBy("tests whose status is lost in a pipe", { run: ["sh", "-c", "npm test | cat"] }),
  namedBy("tests in the background", { run: ["sh", "-c", "npm test & exit 0"] }),
  namedBy("an empty program", "node -e 0"),
  namedBy("a look at the syntax", "node --check src/total.js"),
  namedBy("a script that the session wrote", "sh verify.sh", {
    tasks: [
      task(made("verify.sh", 'echo "1..2"\necho "# tests 2"\necho "# pass 2"\necho "# fail 0"\n'), {
        checks: ["sh verify.sh"],
      }),
    ],
  }),
  namedBy("a test that the session wrote and that tests nothing", "node --test test/new.test.js", {
    tasks: [task(made("test/new.test.js", hollow), { checks: ["node --test test/new.test.js"] })],
  }),
  namedBy("a test that the session wrote for the fault", "node --test test/new.test.js", {
    tasks: [task(made("test/new.test.js", wrong), { checks: ["node --test test/new.test.js"] })],
  }),
  namedBy("a script that the session added to package.json", "npm run verify", {
    tasks: [
      task(
        made(
          "package.json",
          '{ "name": "sums", "type": "module", "scripts": { "test": "node --test", "verify": "node -e 0" } }\n',
        ),
        { checks: ["npm run verify"] },
      ),
    ],
  }),
  namedBy("a script that need not be there", "npm run lint --if-present"),
  namedBy("a dry run of make", "make -n check", {
    base: makeProject(),
    tasks: [task({ "bin/greet.sh": "#!/bin/sh\n# greets\necho Hullo\n" }, { checks: ["make -n check"] })],
  }),
  namedBy("the first part of a task's criteria", "test -s docs/questions.md", {
    base: docsProject(),
    tasks: [
      task(
        { "docs/questions.md": "x\n" },
        {
          kind: "documentation",
          acceptance: ["`test -s docs/questions.md` succeeds"],
          checks: ["test -s docs/questions.md"],
        },
      ),
    ],
  }),
  namedBy("python that compiles the work", "python3 -m py_compile sums/total.py", {
    base: { "sums/__init__.py": "", "tests/test_total.py": "import unittest\n" },
    tasks: [
      task(
        { "sums/total.py": "def total(numbers):\n    return None\n" },
        { checks: ["python3 -m py_compile sums/total.py"] },
      ),
    ],
  }),
  namedBy("a comparison of a file with itself", "cmp src/total.js src/total.js"),
];

export const criteriaInWords: readonly HostileCase[] = [...words, ...named];
