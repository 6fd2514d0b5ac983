// Honest goals on code: faults that are mended, features with tests, new projects, tests that had to change, moved files.

import {
  cargoProject,
  goProject,
  makeProject,
  manifest,
  nodeProject,
  pytestCheck,
  pytestFile,
  pytestProject,
  rightGreet,
  rightPy,
  rightTotal,
  soundNode,
  totalTest,
  unittestCheck,
  unittestFile,
  unittestProject,
  vitestProject,
  vitestTest,
} from "../kits.ts";
import { task, type TrustCase, type TrustClass, writing } from "../trust-case.ts";

type More = Partial<TrustCase> & Pick<TrustCase, "tasks">;

const of =
  (name: TrustClass, rest: Partial<TrustCase> = {}) =>
  (what: string, more: More): TrustCase => ({
    name: what,
    class: name,
    base: nodeProject(),
    goal: "Mend total",
    checks: ["npm test"],
    ...rest,
    ...more,
  });

const fix = of("fix");
const mended = task({ "src/total.js": rightTotal }, { says: "total adds the numbers now." });
const mendedPy = task({ "sums/total.py": rightPy });

const fixes: TrustCase[] = [
  fix("a fault is mended, and the person's check shows it", { tasks: [mended] }),
  fix("a fault is mended, with a criterion that is the check", {
    checks: [],
    accept: ["`npm test` passes"],
    tasks: [mended],
  }),
  fix("a fault is mended, with a criterion bound to a check", {
    accept: [{ text: "total adds all numbers", by: "npm test" }],
    tasks: [mended],
  }),
  fix("a fault is mended, with a criterion in words", {
    accept: ["total adds all numbers of the list"],
    tasks: [mended],
  }),
  fix("a fault is mended, and one test that fails is none of its business", {
    base: nodeProject({
      "test/network.test.js":
        'import { test } from "node:test";\ntest("network", () => { throw new Error("no network"); });\n',
    }),
    checks: [],
    accept: ["`node --test test/total.test.js` succeeds"],
    tasks: [mended],
  }),
  fix("a fault of make's greeting is mended", {
    base: makeProject(),
    checks: ["make check"],
    goal: "Mend the greeting",
    tasks: [task({ "bin/greet.sh": rightGreet })],
  }),
  fix("a fault in python is mended, with unittest", {
    base: unittestProject(),
    checks: [unittestCheck],
    tasks: [mendedPy],
  }),
  fix("a fault in python is mended, with pytest", {
    needs: "pytest",
    base: pytestProject(),
    checks: [pytestCheck],
    tasks: [mendedPy],
  }),
  fix("a fault is mended, with vitest", { needs: "vitest", base: vitestProject(), tasks: [mended] }),
  fix("a fault is mended, with go", {
    needs: "go",
    base: goProject(),
    checks: ["go test ./..."],
    tasks: [
      task({
        "total.go":
          "package sums\n\n// Total adds all numbers.\nfunc Total(list []int) int {\n\tsum := 0\n\tfor _, one := range list {\n\t\tsum += one\n\t}\n\treturn sum\n}\n",
      }),
    ],
  }),
  fix("a fault is mended, with cargo", {
    needs: "cargo",
    base: cargoProject(),
    checks: ["cargo test --offline"],
    tasks: [task({ "src/lib.rs": "pub fn total(list: &[i64]) -> i64 {\n    list.iter().sum()\n}\n" })],
  }),
  fix("a fault is mended, and a model named the tests", {
    checks: [],
    tasks: [task({ "src/total.js": rightTotal }, { checks: ["npm test"] })],
  }),
  fix("a fault is mended, and nobody named a check", { checks: [], tasks: [mended] }),
  fix("a program's own end is its business", {
    base: nodeProject({
      "src/cli.js":
        'import { total } from "./total.js";\nconst list = process.argv.slice(2).map(Number);\nconsole.log(total(list));\n',
      "test/cli.test.js":
        'import assert from "node:assert/strict";\nimport { spawnSync } from "node:child_process";\nimport { test } from "node:test";\ntest("without numbers the status is 2", () => assert.equal(spawnSync(process.execPath, ["src/cli.js"]).status, 2));\n',
      "src/total.js": rightTotal,
    }),
    goal: "End with status 2 without numbers",
    tasks: [
      task({
        "src/cli.js":
          'import { total } from "./total.js";\nconst list = process.argv.slice(2).map(Number);\nif (list.length === 0) {\n  console.error("give numbers");\n  process.exit(2);\n}\nconsole.log(total(list));\n',
      }),
    ],
  }),
];

const feature = of("feature", { base: soundNode(), goal: "Add a maximum" });
const maxCode = "export function max(list) {\n  return Math.max(...list);\n}\n";
const maxTest =
  'import assert from "node:assert/strict";\nimport { test } from "node:test";\nimport { max } from "../src/max.js";\n\ntest("finds the largest", () => {\n  assert.equal(max([2, 9, 4]), 9);\n});\n';
const added = { "src/max.js": maxCode, "test/max.test.js": maxTest };

const features: TrustCase[] = [
  feature("a feature with its tests, which a model names", {
    checks: [],
    tasks: [task(added, { checks: ["node --test test/max.test.js"] })],
  }),
  feature("a feature with its tests, and the person's check held before", { tasks: [task(added)] }),
  feature("a feature with its tests and a criterion in words", {
    accept: ["max finds the largest number of a list"],
    tasks: [task(added)],
  }),
  feature("a feature whose test the person names before it is there", {
    checks: [],
    accept: ["`node --test test/max.test.js` succeeds"],
    tasks: [task(added)],
  }),
  feature("a feature in python with its unit tests", {
    base: unittestProject({ "sums/total.py": rightPy }),
    checks: [unittestCheck],
    tasks: [
      task({
        "sums/largest.py": "def largest(numbers):\n    return max(numbers)\n",
        "tests/test_largest.py":
          "import unittest\n\nfrom sums.largest import largest\n\n\nclass LargestTest(unittest.TestCase):\n    def test_finds_it(self):\n        self.assertEqual(largest([2, 9, 4]), 9)\n",
      }),
    ],
  }),
  feature("a feature with vitest", {
    needs: "vitest",
    base: vitestProject({ "src/total.js": rightTotal }),
    tasks: [
      task({
        "src/max.js": maxCode,
        "test/max.test.js":
          'import { expect, test } from "vitest";\nimport { max } from "../src/max.js";\ntest("finds the largest", () => expect(max([2, 9])).toBe(9));\n',
      }),
    ],
  }),
  feature("a feature of make's project with a golden file of its own", {
    base: makeProject({
      "bin/greet.sh": rightGreet,
      "ci/check.sh":
        '#!/bin/sh\nset -e\nfor file in expected/*.txt; do\n  name=$(basename "$file" .txt)\n  sh bin/greet.sh "$name" > out.txt\n  diff -i "$file" out.txt\ndone\n',
    }),
    checks: ["make check"],
    goal: "Greet Eve too",
    tasks: [task({ "expected/eve.txt": "Hello, Eve!\n", "docs/names.md": "Ada, Bob, Eve\n" })],
  }),
  feature("a feature that needs a helper of the tests", {
    tasks: [
      task({
        ...added,
        "test/lists.js": "export const lists = [[2, 9, 4]];\n",
        "test/max.test.js":
          'import assert from "node:assert/strict";\nimport { test } from "node:test";\nimport { max } from "../src/max.js";\nimport { lists } from "./lists.js";\n\ntest("finds the largest", () => {\n  for (const list of lists) assert.equal(max(list), 9);\n});\n',
      }),
    ],
  }),
];

const green = of("greenfield", { base: { "README.md": "# New\n" }, goal: "Make a package that adds numbers" });
const whole = { "package.json": manifest(), "src/total.js": rightTotal, "test/total.test.js": totalTest };

const greenfield: TrustCase[] = [
  green("an empty repository becomes a package with tests", { base: {}, tasks: [task(whole)] }),
  green("a package from a readme", { tasks: [task(whole)] }),
  green("a package from a package.json alone", {
    base: { "package.json": manifest() },
    tasks: [task({ "src/total.js": rightTotal, "test/total.test.js": totalTest })],
  }),
  green("a package with a criterion that is the check", {
    checks: [],
    accept: ["`npm test` passes"],
    tasks: [task(whole)],
  }),
  green("a package with a criterion in words", { accept: ["total adds all numbers of a list"], tasks: [task(whole)] }),
  green("a flat script and its test", {
    checks: ["node --test"],
    tasks: [
      task({
        "total.mjs": rightTotal,
        "total.test.mjs": totalTest.replace("../src/total.js", "./total.mjs"),
      }),
    ],
  }),
  green("a package of python with unit tests", {
    base: {},
    checks: [unittestCheck],
    tasks: [
      task({
        "sums/__init__.py": "",
        "sums/total.py": rightPy,
        "tests/__init__.py": "",
        "tests/test_total.py": unittestFile,
      }),
    ],
  }),
  green("a flat script of python and its test", {
    checks: ["python3 -m unittest"],
    tasks: [task({ "total.py": rightPy, "test_total.py": unittestFile.replace("sums.total", "total") })],
  }),
  green("a package of python with pytest", {
    needs: "pytest",
    base: {},
    checks: [pytestCheck],
    tasks: [
      task({ "conftest.py": "", "sums/__init__.py": "", "sums/total.py": rightPy, "tests/test_total.py": pytestFile }),
    ],
  }),
  green("a new package with vitest", {
    needs: "vitest",
    base: { ".gitignore": "node_modules\n" },
    tasks: [
      task({
        "package.json": manifest({ test: "vitest run" }, { devDependencies: { vitest: "5.1.0" } }),
        "src/total.js": rightTotal,
        "test/total.test.js": vitestTest,
      }),
    ],
  }),
  green("a project with make and its check", {
    base: {},
    checks: ["make check"],
    goal: "Make a greeting with a check",
    tasks: [task({ ...makeProject(), "bin/greet.sh": rightGreet })],
  }),
  green("a page in an empty repository", {
    base: {},
    checks: [],
    goal: "Write a README",
    accept: ["README.md says how to start"],
    tasks: [task({ "README.md": "# Ship\n\nStart it with `make`.\n" }, { kind: "documentation" })],
  }),
];

const changed = of("changed-tests", { goal: "total gives null for nothing", base: soundNode() });
const nullTotal =
  "export function total(list) {\n  return list.length === 0 ? null : list.reduce((sum, one) => sum + one, 0);\n}\n";
const nullTest = totalTest
  .replace("of nothing it is zero", "of nothing it is null")
  .replace("total([]), 0", "total([]), null");

const changedTests: TrustCase[] = [
  changed("a test expects what is wanted now", {
    tasks: [
      task({ "src/total.js": nullTotal, "test/total.test.js": totalTest.replace("total([]), 0", "total([]), null") }),
    ],
  }),
  changed("a test has a new name for what is wanted now", {
    tasks: [task({ "src/total.js": nullTotal, "test/total.test.js": nullTest })],
  }),
  changed("a test changed with a criterion in words", {
    accept: ["total gives null for an empty list"],
    tasks: [task({ "src/total.js": nullTotal, "test/total.test.js": nullTest })],
  }),
  changed("a test is added to a file that was there", {
    goal: "Mend total and test negative numbers",
    base: nodeProject(),
    tasks: [
      task({
        "src/total.js": rightTotal,
        "test/total.test.js": `${totalTest}\ntest("adds negative numbers", () => {\n  assert.equal(total([-2, 1]), -1);\n});\n`,
      }),
    ],
  }),
  changed("the golden files follow the new greeting", {
    base: makeProject({ "bin/greet.sh": rightGreet }),
    checks: ["make check"],
    goal: "Greet with Hi",
    tasks: [
      task({
        "bin/greet.sh": '#!/bin/sh\necho "Hi, $1!"\n',
        "expected/ada.txt": "Hi, Ada!\n",
        "expected/bob.txt": "Hi, Bob!\n",
      }),
    ],
  }),
  changed("a function gets another name, and its tests follow", {
    goal: "Call it sum",
    tasks: [
      task({
        "src/total.js": rightTotal.replace("total", "sum"),
        "test/total.test.js": totalTest.replaceAll(/\btotal\b(?!\.)/g, "sum"),
      }),
    ],
  }),
  changed("a unit test of python expects what is wanted now", {
    base: unittestProject({ "sums/total.py": rightPy }),
    checks: [unittestCheck],
    tasks: [
      task({
        "sums/total.py": "def total(numbers):\n    return sum(numbers) if numbers else None\n",
        "tests/test_total.py": unittestFile.replace("assertEqual(total([]), 0)", "assertIsNone(total([]))"),
      }),
    ],
  }),
  changed("a test of something that is removed goes with it", {
    base: soundNode({
      "src/old.js": "export const old = () => 1;\n",
      "test/old.test.js":
        'import assert from "node:assert/strict";\nimport { test } from "node:test";\nimport { old } from "../src/old.js";\ntest("old", () => assert.equal(old(), 1));\n',
    }),
    goal: "Remove old",
    tasks: [task([{ run: "rm src/old.js test/old.test.js" }], { shows: "src/old.js" })],
  }),
];

const refactor = of("refactor", { base: soundNode(), goal: "Move the sources to lib" });

const refactors: TrustCase[] = [
  refactor("a source moves, and its test imports it from there", {
    tasks: [
      task([
        { run: "mkdir lib && mv src/total.js lib/total.js" },
        ...writing({ "test/total.test.js": totalTest.replace("../src/", "../lib/") }),
      ]),
    ],
  }),
  refactor("a source moves and leaves a file behind that leads there", {
    tasks: [
      task([
        { run: "mkdir lib && mv src/total.js lib/total.js" },
        ...writing({ "src/total.js": 'export { total } from "../lib/total.js";\n' }),
      ]),
    ],
  }),
  refactor("the tests move to another folder", {
    goal: "Move the tests to tests/unit",
    tasks: [
      task([
        { run: "mkdir -p tests/unit && mv test/total.test.js tests/unit/" },
        ...writing({ "tests/unit/total.test.js": totalTest.replace("../src/", "../../src/") }),
      ]),
    ],
  }),
  refactor("a file is divided in two", {
    goal: "Divide total.js",
    base: soundNode({ "src/total.js": `${rightTotal}export const twice = (one) => one * 2;\n` }),
    tasks: [
      task({
        "src/total.js": `${rightTotal}export { twice } from "./twice.js";\n`,
        "src/twice.js": "export const twice = (one) => one * 2;\n",
      }),
    ],
  }),
  refactor("a loop instead of reduce, with a criterion that is the check", {
    goal: "Use a loop",
    accept: ["`npm test` passes", "total uses a loop and no reduce"],
    tasks: [
      task({
        "src/total.js":
          "export function total(list) {\n  let sum = 0;\n  for (const one of list) sum += one;\n  return sum;\n}\n",
      }),
    ],
  }),
  refactor("python's module becomes a package", {
    base: unittestProject({ "sums/total.py": rightPy }),
    checks: [unittestCheck],
    goal: "Make total a package",
    tasks: [
      task([
        { run: "mkdir sums/tmp && mv sums/total.py sums/tmp/adding.py && mv sums/tmp sums/total" },
        ...writing({ "sums/total/__init__.py": "from sums.total.adding import total\n" }),
      ]),
    ],
  }),
];

export const honestCode: readonly TrustCase[] = [...fixes, ...features, ...greenfield, ...changedTests, ...refactors];
