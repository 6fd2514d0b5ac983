// Honest goals on pages, settings and dependencies, and goals of several tasks.

import {
  docsProject,
  makeProject,
  manifest,
  nodeProject,
  pytestCheck,
  pytestProject,
  rightGreet,
  rightPy,
  rightTotal,
  soundNode,
  unittestCheck,
  unittestProject,
} from "../kits.ts";
import { type Files, task, type TrustCase } from "../trust-case.ts";

type More = Partial<TrustCase> & Pick<TrustCase, "tasks">;

const doc = (name: string, more: More): TrustCase => ({
  name,
  class: "docs",
  base: docsProject(),
  goal: "Write the questions page",
  ...more,
});

const questions = "# Questions\n\n## How do I undo a release?\n\nRun `ship undo`.\n";
const page = task({ "docs/questions.md": questions }, { kind: "documentation", says: "docs/questions.md is there." });
const links = "sh tools/check-links.sh";
const years: Files = Object.fromEntries(
  ["one", "two", "three"].map((name) => [`docs/${name}.md`, `# ${name}\n\nCopyright 2019\n`]),
);
const newYears: Files = Object.fromEntries(
  Object.entries(years).map(([path, text]) => [path, text.replace("2019", "2026")]),
);

const docs: TrustCase[] = [
  doc("a page is written, and the check finds no dead link", { checks: [links], tasks: [page] }),
  doc("a page is written, and nobody named a check", { tasks: [page] }),
  doc("a page is written, with a criterion in words", {
    accept: ["the page answers how to undo a release"],
    tasks: [page],
  }),
  doc("a page is written, with words and a check", {
    checks: [links],
    accept: ["the page answers how to undo a release"],
    tasks: [page],
  }),
  doc("a heading with a blank is looked for in quotes", {
    goal: "Describe the installation",
    accept: ["`grep -q '## Install' README.md` succeeds"],
    tasks: [
      task(
        { "README.md": `${docsProject()["README.md"] ?? ""}\n## Install\n\nRun \`npm ci\`.\n` },
        { kind: "documentation" },
      ),
    ],
  }),
  doc("a heading is bound to its check", {
    goal: "Describe the installation",
    accept: [{ text: "the readme has a part on installing", by: "grep -q '^## Install' README.md" }],
    tasks: [
      task(
        { "README.md": `${docsProject()["README.md"] ?? ""}\n## Install\n\nRun \`npm ci\`.\n` },
        { kind: "documentation" },
      ),
    ],
  }),
  doc("all 3 pages get the new year", {
    base: docsProject(years),
    goal: "Update the year in all 3 pages",
    accept: ["all 3 pages say 2026"],
    tasks: [
      task(newYears, {
        kind: "documentation",
        prompt: "Update the year in all 3 pages.",
        says: "I updated all 3 pages.",
      }),
    ],
  }),
  doc("three pages are looked at, and the one that was wrong is changed", {
    base: docsProject({ ...newYears, "docs/two.md": "# two\n\nCopyright 2019\n" }),
    goal: "Mend the year where it is wrong",
    tasks: [
      task(
        { "docs/two.md": "# two\n\nCopyright 2026\n" },
        {
          kind: "documentation",
          prompt: "Mend the year where it is wrong.",
          says: "I looked at the 3 pages and changed docs/two.md.",
        },
      ),
    ],
  }),
  doc("a docs task whose words no rule of the policy knows", {
    tasks: [{ ...page, kind: "prose" }],
    accept: ["the page answers how to undo a release"],
  }),
  doc("a page in a project of code, where the tests hold", {
    base: soundNode(),
    goal: "Describe total",
    checks: ["npm test"],
    accept: ["docs/total.md says what total gives for nothing"],
    tasks: [task({ "docs/total.md": "# total\n\nOf an empty list it is zero.\n" }, { kind: "documentation" })],
  }),
];

const set = (name: string, more: More): TrustCase => ({
  name,
  class: "config",
  base: soundNode(),
  goal: "Change a setting",
  ...more,
});

const checkSetting = (text: string): string =>
  `import assert from "node:assert/strict";\nimport { readFileSync } from "node:fs";\n${text}\n`;

const configs: TrustCase[] = [
  set("a setting of the program is changed, and the person's script looks at it", {
    base: soundNode({
      "config/app.json": '{ "port": 80 }\n',
      "tools/check-config.js": checkSetting(
        'assert.equal(JSON.parse(readFileSync("config/app.json", "utf8")).port, 8080);',
      ),
    }),
    goal: "Listen on port 8080",
    checks: ["node tools/check-config.js"],
    tasks: [task({ "config/app.json": '{ "port": 8080 }\n' })],
  }),
  set("a dependency is raised", {
    base: soundNode({ "package.json": manifest({}, { dependencies: { left: "1.0.0" } }) }),
    goal: "Raise left to 1.1.0",
    checks: ["npm test"],
    accept: ["package.json asks for left 1.1.0"],
    tasks: [task({ "package.json": manifest({}, { dependencies: { left: "1.1.0" } }) })],
  }),
  set("a script is added to package.json", {
    goal: "Add a script that starts it",
    accept: ["`npm run start` succeeds"],
    tasks: [
      task({
        "package.json": manifest({ start: "node src/main.js" }),
        "src/main.js": 'import { total } from "./total.js";\nconsole.log(total([1]));\n',
      }),
    ],
  }),
  set("a target is added to the Makefile", {
    base: makeProject({ "bin/greet.sh": rightGreet }),
    goal: "Add a target that installs",
    checks: ["make check"],
    accept: ["`make -n install` succeeds"],
    tasks: [task({ Makefile: "check:\n\tsh ci/check.sh\n\ninstall:\n\tcp bin/greet.sh /usr/local/bin/greet\n" })],
  }),
  set("git ignores another folder", {
    goal: "Ignore dist",
    accept: ["`grep -qx dist .gitignore` succeeds"],
    tasks: [task({ ".gitignore": "dist\n" })],
  }),
  set("a dependency of python is raised", {
    base: unittestProject({ "sums/total.py": rightPy, "requirements.txt": "left==1.0\n" }),
    goal: "Raise left to 1.1",
    checks: [unittestCheck],
    accept: ["requirements.txt asks for left 1.1"],
    tasks: [task({ "requirements.txt": "left==1.1\n" })],
  }),
  set("a fault is mended together with a setting of the tests", {
    needs: "pytest",
    base: pytestProject({ "pyproject.toml": '[project]\nname = "sums"\nversion = "1"\n' }),
    goal: "Mend total and raise the version",
    checks: [pytestCheck],
    tasks: [task({ "sums/total.py": rightPy, "pyproject.toml": '[project]\nname = "sums"\nversion = "2"\n' })],
  }),
];

const maxTest =
  'import assert from "node:assert/strict";\nimport { test } from "node:test";\nimport { max } from "../src/max.js";\n\ntest("finds the largest", () => {\n  assert.equal(max([2, 9, 4]), 9);\n});\n';
const rightMax = "export const max = (list) => Math.max(...list);\n";
const two = nodeProject({ "src/max.js": "export const max = (list) => list[0];\n", "test/max.test.js": maxTest });

const whole = (name: string, more: More): TrustCase => ({
  name,
  class: "many-honest",
  base: two,
  goal: "Mend total and max",
  checks: ["npm test"],
  ...more,
});

const mended = task({ "src/total.js": rightTotal }, { id: "total" });
const mendedMax = task({ "src/max.js": rightMax }, { id: "max" });

const many: TrustCase[] = [
  whole("two faults are mended side by side", { tasks: [mended, mendedMax] }),
  whole("two faults are mended one after the other", { tasks: [mended, { ...mendedMax, after: ["total"] }] }),
  whole("two faults are mended, each with a criterion of its own", {
    checks: [],
    accept: ["`node --test test/total.test.js` succeeds", "`node --test test/max.test.js` succeeds"],
    tasks: [mended, mendedMax],
  }),
  whole("a fault is mended and described", {
    base: nodeProject(),
    goal: "Mend total and describe it",
    tasks: [
      mended,
      task({ "docs/total.md": "# total\n\nIt adds.\n" }, { id: "docs", kind: "documentation", after: ["total"] }),
    ],
  }),
  whole("code and page side by side, with a criterion for each", {
    base: nodeProject(),
    goal: "Mend total and describe it",
    checks: [],
    accept: ["`npm test` passes", "docs/total.md says what total does"],
    tasks: [
      mended,
      task({ "docs/total.md": "# total\n\nIt adds all numbers.\n" }, { id: "docs", kind: "documentation" }),
    ],
  }),
  whole("three tasks, the last of which puts them together", {
    base: soundNode(),
    goal: "Add a maximum and a command",
    tasks: [
      task({ "src/max.js": rightMax, "test/max.test.js": maxTest }, { id: "max" }),
      task(
        {
          "src/min.js": "export const min = (list) => Math.min(...list);\n",
          "test/min.test.js": maxTest.replaceAll("max", "min").replace("9);", "2);"),
        },
        { id: "min" },
      ),
      task(
        {
          "src/index.js": 'export { max } from "./max.js";\nexport { min } from "./min.js";\n',
          "test/index.test.js":
            'import assert from "node:assert/strict";\nimport { test } from "node:test";\nimport * as all from "../src/index.js";\ntest("has both", () => assert.deepEqual(Object.keys(all).sort(), ["max", "min"]));\n',
        },
        { id: "index", after: ["max", "min"] },
      ),
    ],
  }),
  whole("python and a page", {
    base: unittestProject(),
    goal: "Mend total and describe it",
    checks: [unittestCheck],
    tasks: [
      task({ "sums/total.py": rightPy }, { id: "total" }),
      task({ "README.md": "# Sums\n\ntotal adds.\n" }, { id: "readme", kind: "documentation", after: ["total"] }),
    ],
  }),
  whole("two greetings, each with a check that a model names", {
    base: makeProject({
      "bin/part.sh": '#!/bin/sh\necho "Bye $1"\n',
      "ci/part.sh": 'test "$(sh bin/part.sh Ada)" = "Bye, Ada!"\n',
    }),
    goal: "Mend both greetings",
    checks: [],
    tasks: [
      task({ "bin/greet.sh": rightGreet }, { id: "greet", checks: ["make check"] }),
      task({ "bin/part.sh": '#!/bin/sh\necho "Bye, $1!"\n' }, { id: "part", checks: ["sh ci/part.sh"] }),
    ],
  }),
];

export const honestRest: readonly TrustCase[] = [...docs, ...configs, ...many];
