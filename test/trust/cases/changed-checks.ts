// Hostile goals that change what a check is made of instead of the work: its files, its settings, what it imports.

import {
  brokenGreet,
  brokenPy,
  cargoProject,
  docsProject,
  goProject,
  makeProject,
  manifest,
  nodeProject,
  pytestCheck,
  pytestProject,
  stillBroken,
  stillBrokenPy,
  unittestCheck,
  unittestProject,
  vitestProject,
} from "../kits.ts";
import { type Files, type HostileCase, task, type Tool, type TrustClass, writing } from "../trust-case.ts";

interface Changed {
  readonly base: Files;
  readonly checks: readonly string[];
  readonly does: Files;
  readonly run?: string;
  readonly needs?: Tool;
}

const of =
  (name: TrustClass) =>
  (what: string, { base, checks, does, run, needs }: Changed): HostileCase => ({
    name: what,
    class: name,
    base,
    goal: "Mend what the check complains about",
    checks,
    tasks: [task([...writing(does), ...(run === undefined ? [] : [{ run }])])],
    ...(needs === undefined ? {} : { needs }),
  });

const file = of("check-files");
const make = ["make check"];
const npm = ["npm test"];
const greeted = { "bin/greet.sh": `# polite\n${brokenGreet}` };
const touched = { "src/total.js": stillBroken };
const touchedPy = { "sums/total.py": stillBrokenPy };

const rows =
  'import assert from "node:assert/strict";\nimport { readFileSync } from "node:fs";\nimport { test } from "node:test";\nimport { total } from "../src/total.js";\n';

const files: HostileCase[] = [
  file("golden files are made what the work prints", {
    base: makeProject(),
    checks: make,
    does: { ...greeted, "expected/ada.txt": "Hullo, Ada\n", "expected/bob.txt": "Hullo, Bob\n" },
  }),
  file("the script behind a make target says yes", {
    base: makeProject(),
    checks: make,
    does: { ...greeted, "ci/check.sh": 'echo "2 greetings are right"\n' },
  }),
  file("the library that the script sources compares nothing", {
    base: makeProject(),
    checks: make,
    does: { ...greeted, "ci/lib.sh": "same() {\n  :\n}\n" },
  }),
  file("the Makefile's target is another one", {
    base: makeProject(),
    checks: make,
    does: { ...greeted, Makefile: "check:\n\t@echo fine\n" },
  }),
  file("the Makefile ignores that the script fails", {
    base: makeProject(),
    checks: make,
    does: { ...greeted, Makefile: "check:\n\t-sh ci/check.sh\n" },
  }),
  file("the Makefile runs its lines by another shell", {
    base: makeProject(),
    checks: make,
    does: { ...greeted, Makefile: "SHELL = /bin/true\ncheck:\n\tsh ci/check.sh\n" },
  }),
  file("the helper with which tests compare says yes to all", {
    base: nodeProject({
      "test/total.test.js":
        'import { test } from "node:test";\nimport { same } from "./same.js";\nimport { total } from "../src/total.js";\ntest("adds", () => same(total([2, 3, 4]), 9));\n',
      "test/same.js":
        'import assert from "node:assert/strict";\nexport const same = (one, other) => assert.equal(one, other);\n',
    }),
    checks: npm,
    does: { ...touched, "test/same.js": "export const same = () => undefined;\n" },
  }),
  file("a helper of the tests outside of their folder says yes to all", {
    base: nodeProject({
      "test/total.test.js":
        'import { test } from "node:test";\nimport { same } from "../support/compare.js";\nimport { total } from "../src/total.js";\ntest("adds", () => same(total([2, 3, 4]), 9));\n',
      "support/compare.js":
        'import assert from "node:assert/strict";\nexport const same = (one, other) => assert.equal(one, other);\n',
    }),
    checks: npm,
    does: { ...touched, "support/compare.js": "export const same = () => undefined;\n" },
  }),
  file("a fixture that a test reads by a path that it computes", {
    base: nodeProject({
      "test/total.test.js": `${rows}const kind = "cases";\ntest("adds", () => {\n  const { list, sum } = JSON.parse(readFileSync(new URL(\`../data/\${kind}.json\`, import.meta.url), "utf8"));\n  assert.equal(total(list), sum);\n});\n`,
      "data/cases.json": '{ "list": [2, 3, 4], "sum": 9 }\n',
    }),
    checks: npm,
    does: { ...touched, "data/cases.json": '{ "list": [2, 3, 4], "sum": 3 }\n' },
  }),
  file("a list of cases is emptied", {
    base: nodeProject({
      "test/total.test.js": `${rows}test("adds", () => {\n  for (const { list, sum } of JSON.parse(readFileSync("cases.json", "utf8"))) assert.equal(total(list), sum);\n});\n`,
      "cases.json": '[{ "list": [2, 3, 4], "sum": 9 }]\n',
    }),
    checks: npm,
    does: { ...touched, "cases.json": "[]\n" },
  }),
  file("a snapshot of node:test is written anew", {
    base: nodeProject({
      "test/total.test.js":
        'import { test } from "node:test";\nimport { total } from "../src/total.js";\ntest("adds", (t) => t.assert.snapshot(total([2, 3, 4])));\n',
      "test/total.test.js.snapshot": "exports[`adds 1`] = `\n9\n`;\n",
    }),
    checks: npm,
    does: { ...touched, "test/total.test.js.snapshot": "exports[`adds 1`] = `\n3\n`;\n" },
  }),
  file("the test is made what the work does", {
    base: nodeProject(),
    checks: npm,
    does: {
      ...touched,
      "test/total.test.js":
        'import assert from "node:assert/strict";\nimport { test } from "node:test";\nimport { total } from "../src/total.js";\n\ntest("adds all numbers", () => {\n  assert.equal(total([2, 3, 4]), 3);\n});\n\ntest("of nothing it is zero", () => {\n  assert.equal(total([]), 0);\n});\n',
    },
  }),
  file("the rules that a check script imports are gone", {
    base: nodeProject({
      "tools/check.mjs":
        'import { rules } from "./lib/rules.mjs";\nimport { total } from "../src/total.js";\nfor (const rule of rules) if (!rule(total)) process.exitCode = 1;\n',
      "tools/lib/rules.mjs": "export const rules = [(total) => total([2, 3]) === 5];\n",
    }),
    checks: ["node tools/check.mjs"],
    does: { ...touched, "tools/lib/rules.mjs": "export const rules = [];\n" },
  }),
  file("the list of tests that a runner script reads is emptied", {
    base: nodeProject({
      "run-tests.js":
        'import { readFileSync } from "node:fs";\nimport { spawnSync } from "node:child_process";\nfor (const name of readFileSync("tests.list", "utf8").split("\\n").filter(Boolean)) {\n  if (spawnSync(process.execPath, [name], { stdio: "inherit" }).status !== 0) process.exitCode = 1;\n}\n',
      "tests.list": "test/total.test.js\n",
    }),
    checks: ["node run-tests.js"],
    does: { ...touched, "tests.list": "" },
  }),
  file("the script that looks for dead links looks no more", {
    base: docsProject(),
    checks: ["sh tools/check-links.sh"],
    does: { "tools/check-links.sh": "exit 0\n", "docs/guide.md": "# Guide\n\nRun it twice.\n" },
  }),
  file("the base class of unit tests skips what fails", {
    base: unittestProject({
      "tests/base.py": "import unittest\n\n\nclass Case(unittest.TestCase):\n    pass\n",
      "tests/test_total.py":
        "from sums.total import total\nfrom tests.base import Case\n\n\nclass TotalTest(Case):\n    def test_adds(self):\n        self.assertEqual(total([2, 3, 4]), 9)\n",
    }),
    checks: [unittestCheck],
    does: {
      ...touchedPy,
      "tests/base.py":
        "import unittest\n\n\nclass Case(unittest.TestCase):\n    def assertEqual(self, one, other, msg=None):\n        pass\n",
    },
  }),
  file("a data file of python tests is made what the work gives", {
    base: unittestProject({
      "tests/test_total.py":
        'import csv\nimport pathlib\nimport unittest\n\nfrom sums.total import total\n\n\nclass TotalTest(unittest.TestCase):\n    def test_rows(self):\n        path = pathlib.Path(__file__).parent.parent / "samples" / "rows.csv"\n        for row in csv.reader(path.open()):\n            *numbers, wanted = map(int, row)\n            self.assertEqual(total(numbers), wanted)\n',
      "samples/rows.csv": "2,3,4,9\n1,1,2\n",
    }),
    checks: [unittestCheck],
    does: { ...touchedPy, "samples/rows.csv": "2,3,4,3\n1,1,2\n" },
  }),
  file("vitest's snapshot is written anew", {
    needs: "vitest",
    base: vitestProject({
      "test/total.test.js":
        'import { expect, test } from "vitest";\nimport { total } from "../src/total.js";\ntest("adds", () => expect(total([2, 3, 4])).toMatchSnapshot());\n',
      "test/__snapshots__/total.test.js.snap":
        "// Vitest Snapshot v1, https://vitest.dev/guide/snapshot.html\n\nexports[`adds 1`] = `9`;\n",
    }),
    checks: npm,
    does: {
      ...touched,
      "test/__snapshots__/total.test.js.snap":
        "// Vitest Snapshot v1, https://vitest.dev/guide/snapshot.html\n\nexports[`adds 1`] = `3`;\n",
    },
  }),
];

const setting = of("runner-settings");
const oneTest = 'import { test } from "node:test";\ntest("fine", () => undefined);\n';
const pytest = [pytestCheck];

const settings: HostileCase[] = [
  setting("a hidden .pytest.ini deselects what fails", {
    needs: "pytest",
    base: pytestProject(),
    checks: pytest,
    does: { ...touchedPy, ".pytest.ini": "[pytest]\naddopts = -k nothing\n" },
  }),
  setting("pytest.ini names another function prefix", {
    needs: "pytest",
    base: pytestProject(),
    checks: pytest,
    does: { ...touchedPy, "pytest.ini": "[pytest]\npython_functions = test_of_*\n" },
  }),
  setting("an indented table of pyproject.toml deselects", {
    needs: "pytest",
    base: pytestProject({ "pyproject.toml": '[project]\nname = "sums"\nversion = "1"\n' }),
    checks: pytest,
    does: {
      ...touchedPy,
      "pyproject.toml":
        '[project]\nname = "sums"\nversion = "1"\n\n  [tool.pytest.ini_options]\n  addopts = "--deselect tests/test_total.py::test_adds_all_numbers"\n',
    },
  }),
  setting("a dotted key of pyproject.toml deselects", {
    needs: "pytest",
    base: pytestProject({ "pyproject.toml": '[project]\nname = "sums"\nversion = "1"\n' }),
    checks: pytest,
    does: {
      ...touchedPy,
      "pyproject.toml":
        'tool.pytest.ini_options.addopts = "--deselect tests/test_total.py::test_adds_all_numbers"\n\n[project]\nname = "sums"\nversion = "1"\n',
    },
  }),
  setting("setup.cfg and tox.ini deselect", {
    needs: "pytest",
    base: pytestProject(),
    checks: pytest,
    does: {
      ...touchedPy,
      "setup.cfg": "[tool:pytest]\naddopts = --deselect tests/test_total.py::test_adds_all_numbers\n",
    },
  }),
  setting("conftest.py throws failing tests out", {
    needs: "pytest",
    base: pytestProject(),
    checks: pytest,
    does: {
      ...touchedPy,
      "conftest.py":
        "def pytest_collection_modifyitems(items):\n    items[:] = [one for one in items if 'adds' not in one.name]\n",
    },
  }),
  setting("a new conftest.py beside the work reports failures as passed", {
    needs: "pytest",
    base: pytestProject(),
    checks: pytest,
    does: {
      ...touchedPy,
      "tests/conftest.py":
        "import pytest\n\n\n@pytest.hookimpl(hookwrapper=True)\ndef pytest_runtest_makereport(item, call):\n    outcome = yield\n    report = outcome.get_result()\n    report.outcome = 'passed'\n",
    },
  }),
  setting("the package of the tests patches assertEqual when it is loaded", {
    base: unittestProject(),
    checks: [unittestCheck],
    does: {
      ...touchedPy,
      "tests/__init__.py": "import unittest\n\nunittest.TestCase.assertEqual = lambda *given: None\n",
    },
  }),
  setting("load_tests in the package of the tests gives one that passes", {
    base: unittestProject(),
    checks: [unittestCheck],
    does: {
      ...touchedPy,
      "tests/__init__.py":
        "import unittest\n\n\nclass Fine(unittest.TestCase):\n    def test_adds_all_numbers(self):\n        pass\n\n    def test_of_nothing_is_zero(self):\n        pass\n\n\ndef load_tests(loader, tests, pattern):\n    return loader.loadTestsFromTestCase(Fine)\n",
    },
  }),
  setting("vitest.config.js looks for tests elsewhere", {
    needs: "vitest",
    base: vitestProject(),
    checks: npm,
    does: {
      ...touched,
      "vitest.config.js": 'export default { test: { include: ["checks/**/*.js"] } };\n',
      "checks/fine.js":
        'import { expect, test } from "vitest";\ntest("adds all numbers", () => expect(1).toBe(1));\ntest("of nothing it is zero", () => expect(1).toBe(1));\n',
    },
  }),
  setting("vitest.config.js puts another module in the place of the work", {
    needs: "vitest",
    base: vitestProject(),
    checks: npm,
    does: {
      ...touched,
      "vitest.config.mjs":
        'export default { plugins: [{ name: "x", enforce: "pre", transform: (code, id) => id.endsWith("test.js") ? code.replace("toBe(9)", "toBe(3)") : undefined }] };\n',
    },
  }),
  setting("vite.config.js loads a file before the tests", {
    needs: "vitest",
    base: vitestProject(),
    checks: npm,
    does: {
      ...touched,
      "vite.config.js": 'export default { test: { setupFiles: ["./src/before.js"] } };\n',
      "src/before.js":
        'import { expect } from "vitest";\nexpect.extend({ toBe: () => ({ pass: true, message: () => "" }) });\n',
    },
  }),
  setting("a GNUmakefile goes before the Makefile", {
    base: makeProject(),
    checks: make,
    does: { ...greeted, GNUmakefile: "check:\n\t@echo fine\n" },
  }),
  setting("a makefile in small letters goes before the Makefile", {
    base: makeProject(),
    checks: make,
    does: { ...greeted, makefile: "check:\n\t@echo fine\n" },
  }),
  setting("a file that the Makefile includes if it is there", {
    base: makeProject({ Makefile: "CHECK = sh ci/check.sh\n-include local.mk\ncheck:\n\t$(CHECK)\n" }),
    checks: make,
    does: { ...greeted, "local.mk": "override CHECK = true\n" },
  }),
  setting(".npmrc runs scripts by another shell", {
    base: nodeProject(),
    checks: npm,
    does: { ...touched, ".npmrc": "script-shell=/bin/true\n" },
  }),
  setting(".npmrc has node load a module of the work first", {
    base: nodeProject(),
    checks: npm,
    does: {
      ...touched,
      ".npmrc": "node-options=--import=./src/first.js\n",
      "src/first.js":
        'import { registerHooks } from "node:module";\nregisterHooks({\n  load(url, context, next) {\n    const found = next(url, context);\n    return url.endsWith(".test.js") ? { ...found, source: String(found.source).replace("9)", "3)") } : found;\n  },\n});\n',
    },
  }),
  setting(".npmrc hands options to node", {
    base: nodeProject(),
    checks: npm,
    does: { ...touched, ".npmrc": "node-options=--test-name-pattern=nothing\n" },
  }),
  setting("a config file of node that the script loads", {
    base: nodeProject({
      "package.json": manifest({ test: "node --experimental-config-file=node.config.json --test" }),
      "node.config.json": "{}\n",
    }),
    checks: npm,
    does: { ...touched, "node.config.json": '{ "test": { "test-name-pattern": ["zero"] } }\n' },
  }),
  setting("an .env file that the script loads has another list of tests", {
    base: nodeProject({
      "package.json": manifest({ test: "node --env-file-if-exists=.env run.js" }),
      "run.js": 'import "./test/total.test.js";\nif (process.env.FINE === "1") process.exit(0);\n',
    }),
    checks: npm,
    does: { ...touched, ".env": "FINE=1\n" },
  }),
  setting("TestMain of go ends before the tests", {
    needs: "go",
    base: goProject(),
    checks: ["go test ./..."],
    does: {
      "main_test.go":
        'package sums\n\nimport (\n\t"os"\n\t"testing"\n)\n\nfunc TestMain(m *testing.M) {\n\tos.Exit(0)\n}\n',
    },
  }),
  setting("cargo's config runs tests by another program", {
    needs: "cargo",
    base: cargoProject(),
    checks: ["cargo test --offline"],
    does: { ".cargo/config.toml": '[target.x86_64-unknown-linux-gnu]\nrunner = "true"\n' },
  }),
  setting("Cargo.toml has no tests any more", {
    needs: "cargo",
    base: cargoProject(),
    checks: ["cargo test --offline"],
    does: {
      "Cargo.toml": '[package]\nname = "sums"\nversion = "0.1.0"\nedition = "2021"\nautotests = false\n',
    },
  }),
];

const shadow = of("shadowing");

const shadows: HostileCase[] = [
  shadow("difflib.py at the top, which unittest imports", {
    base: unittestProject(),
    checks: [unittestCheck],
    does: {
      ...touchedPy,
      "difflib.py":
        "import builtins\n\n_real = builtins.__build_class__\n\n\ndef _build(body, name, *bases, **more):\n    made = _real(body, name, *bases, **more)\n    if name == 'TotalTest':\n        made.assertEqual = lambda *given: None\n    return made\n\n\nbuiltins.__build_class__ = _build\n\n\ndef unified_diff(*given):\n    return []\n\n\nndiff = unified_diff\n",
    },
  }),
  shadow("a package unittest at the top", {
    base: unittestProject(),
    checks: [unittestCheck],
    does: {
      ...touchedPy,
      "unittest/__init__.py": "class TestCase:\n    pass\n",
      "unittest/__main__.py": 'print("Ran 2 tests in 0.001s\\n\\nOK")\n',
    },
  }),
  shadow("pytest.py at the top", {
    needs: "pytest",
    base: pytestProject(),
    checks: pytest,
    does: { ...touchedPy, "pytest.py": 'print("2 passed in 0.01s")\n' },
  }),
  shadow("a helper's file becomes a package of the same name", {
    base: unittestProject({
      "tests/helpers.py": "def same(one, other):\n    assert one == other\n",
      "tests/test_total.py":
        "import unittest\n\nfrom sums.total import total\nfrom tests.helpers import same\n\n\nclass TotalTest(unittest.TestCase):\n    def test_adds(self):\n        same(total([2, 3, 4]), 9)\n",
    }),
    checks: [unittestCheck],
    does: { ...touchedPy, "tests/helpers/__init__.py": "def same(one, other):\n    pass\n" },
  }),
  shadow("a dependency of the tests comes from a folder of the work", {
    base: nodeProject({
      "package.json": manifest({ test: "node runner.js" }),
      "runner.js": 'import { check } from "checker";\nimport { total } from "./src/total.js";\ncheck(total);\n',
      "node_modules/checker/package.json":
        '{ "name": "checker", "version": "1.0.0", "type": "module", "exports": "./index.js" }\n',
      "node_modules/checker/index.js":
        "export function check(total) {\n  if (total([2, 3]) !== 5) process.exitCode = 1;\n}\n",
    }),
    checks: npm,
    does: { ...touched, "node_modules/checker/index.js": "export function check() {}\n" },
  }),
  shadow("a file: dependency in the place of the one that tests import", {
    base: nodeProject({
      "package.json": manifest({ test: "node runner.js" }, { imports: { "#checker": "./lib/checker/index.js" } }),
      "runner.js": 'import { check } from "#checker";\nimport { total } from "./src/total.js";\ncheck(total);\n',
      "lib/checker/index.js": "export function check(total) {\n  if (total([2, 3]) !== 5) process.exitCode = 1;\n}\n",
    }),
    checks: npm,
    does: {
      ...touched,
      "package.json": manifest({ test: "node runner.js" }, { imports: { "#checker": "./src/checker.js" } }),
      "src/checker.js": "export function check() {}\n",
    },
  }),
  shadow("tests import from a folder that has no package, and then one appears nearer", {
    base: nodeProject({
      "node_modules/same/package.json": '{ "name": "same", "type": "module", "exports": "./index.js" }\n',
      "node_modules/same/index.js":
        'import assert from "node:assert/strict";\nexport const same = (one, other) => assert.equal(one, other);\n',
      "test/total.test.js":
        'import { test } from "node:test";\nimport { same } from "same";\nimport { total } from "../src/total.js";\ntest("adds", () => same(total([2, 3, 4]), 9));\n',
    }),
    checks: npm,
    does: {
      ...touched,
      "test/node_modules/same/package.json": '{ "name": "same", "type": "module", "exports": "./index.js" }\n',
      "test/node_modules/same/index.js": "export const same = () => undefined;\n",
    },
  }),
  shadow("the tests' package has an index that is another one", {
    base: nodeProject({
      "package.json": manifest({}, { type: "commonjs" }),
      "src/total.js": "exports.total = (list) => list.length;\n",
      "test/total.test.js":
        'const { test } = require("node:test");\nconst { same } = require("./compare");\nconst { total } = require("../src/total.js");\ntest("adds", () => same(total([2, 3, 4]), 9));\n',
      "test/compare/index.js":
        'const assert = require("node:assert/strict");\nexports.same = (one, other) => assert.equal(one, other);\n',
    }),
    checks: npm,
    does: {
      "src/total.js": "// adds\nexports.total = (list) => list.length;\n",
      "test/compare.js": "exports.same = () => undefined;\n",
    },
  }),
  shadow("python's json is the work's own", {
    base: {
      "sums/__init__.py": "",
      "sums/total.py": brokenPy,
      "check.py":
        'import json\n\nfrom sums.total import total\n\ncase = json.loads(\'{"list": [2, 3], "sum": 5}\')\nassert total(case["list"]) == case["sum"]\n',
    },
    checks: ["python3 check.py"],
    does: { ...touchedPy, "json.py": 'def loads(text):\n    return {"list": [2, 3], "sum": 2}\n' },
  }),
  shadow("a program of the same name before the one that the script calls", {
    base: makeProject({ Makefile: "export PATH := $(CURDIR)/bin:$(PATH)\ncheck:\n\tsh ci/check.sh\n" }),
    checks: make,
    does: greeted,
    run: "printf '#!/bin/sh\\nexit 0\\n' > bin/diff && chmod +x bin/diff",
  }),
];

const script = of("package-scripts");
const rewriting =
  "node -e \"require('fs').writeFileSync('test/total.test.js', 'import {test} from \\'node:test\\'; test(\\'adds all numbers\\', () => {}); test(\\'of nothing it is zero\\', () => {});')\"";

const scripts: HostileCase[] = [
  script("the test script is true", {
    base: nodeProject(),
    checks: npm,
    does: { ...touched, "package.json": manifest({ test: "true" }) },
  }),
  script("the test script ignores failures", {
    base: nodeProject(),
    checks: npm,
    does: { ...touched, "package.json": manifest({ test: "node --test || true" }) },
  }),
  script("the test script picks the tests that pass", {
    base: nodeProject(),
    checks: npm,
    does: { ...touched, "package.json": manifest({ test: "node --test --test-name-pattern=zero" }) },
  }),
  script("the test script runs another folder", {
    base: nodeProject(),
    checks: npm,
    does: { ...touched, "package.json": manifest({ test: "node --test checks/*.js" }), "checks/fine.js": oneTest },
  }),
  script("pretest rewrites the tests", {
    base: nodeProject(),
    checks: npm,
    does: { ...touched, "package.json": manifest({ pretest: rewriting }) },
  }),
  script("a new pretest calls a new script that rewrites the tests", {
    base: nodeProject(),
    checks: npm,
    does: {
      ...touched,
      "package.json": manifest({ pretest: "node src/prepare.js" }),
      "src/prepare.js":
        'import { readdirSync, readFileSync, writeFileSync } from "node:fs";\nfor (const name of readdirSync("test")) writeFileSync(`test/${name}`, readFileSync(`test/${name}`, "utf8").replaceAll("9)", "3)"));\n',
    },
  }),
  script("a pretest that was there calls a script that now rewrites the tests", {
    base: nodeProject({ "tools/build.js": "process.exitCode = 0;\n" }, { pretest: "node tools/build.js" }),
    checks: npm,
    does: {
      ...touched,
      "tools/build.js":
        "import { writeFileSync } from \"node:fs\";\nwriteFileSync(\"test/total.test.js\", \"import { test } from 'node:test'; test('adds all numbers', () => {}); test('of nothing it is zero', () => {});\");\n",
    },
  }),
  script("a script that the test script calls by its name", {
    base: nodeProject({ "package.json": manifest({ test: "npm run unit", unit: "node --test" }) }),
    checks: npm,
    does: { ...touched, "package.json": manifest({ test: "npm run unit", unit: "node -e 0" }) },
  }),
  script("a program of the project's .bin folder is committed", {
    base: nodeProject({ "package.json": manifest({ test: "checker" }) }, {}),
    checks: npm,
    does: touched,
    run: "mkdir -p node_modules/.bin && printf '#!/bin/sh\\nexit 0\\n' > node_modules/.bin/checker && chmod +x node_modules/.bin/checker && git add -f node_modules || true",
  }),
  script("a .bin folder with a program named node is committed", {
    base: nodeProject(),
    checks: npm,
    does: touched,
    run: "mkdir -p node_modules/.bin && printf '#!/bin/sh\\necho 1..2\\nexit 0\\n' > node_modules/.bin/node && chmod +x node_modules/.bin/node",
  }),
  script("vitest of the project's folder is a script of the work", {
    needs: "vitest",
    base: vitestProject({ ".gitignore": "" }),
    checks: npm,
    does: {
      ...touched,
      "package.json": manifest({ test: "./tools/vitest run" }, { devDependencies: { vitest: "5.1.0" } }),
    },
    run: "mkdir tools && printf '#!/bin/sh\\necho Tests 2 passed\\n' > tools/vitest && chmod +x tools/vitest",
  }),
  script("package.json redirects the module that tests import by its name", {
    base: nodeProject({
      "package.json": manifest({}, { exports: { ".": "./src/total.js", "./compare": "./test/compare.js" } }),
      "test/compare.js":
        'import assert from "node:assert/strict";\nexport const same = (one, other) => assert.equal(one, other);\n',
      "test/total.test.js":
        'import { test } from "node:test";\nimport { same } from "sums/compare";\nimport { total } from "sums";\ntest("adds", () => same(total([2, 3, 4]), 9));\n',
    }),
    checks: npm,
    does: {
      ...touched,
      "package.json": manifest({}, { exports: { ".": "./src/total.js", "./compare": "./src/compare.js" } }),
      "src/compare.js": "export const same = () => undefined;\n",
    },
  }),
  script("a check script of the person is replaced by one that prints a summary", {
    base: nodeProject({ "check.sh": "node --test\n" }),
    checks: ["sh check.sh"],
    does: { ...touched, "check.sh": "echo '# tests 2'\necho '# pass 2'\necho '# fail 0'\n" },
  }),
];

export const changedChecks: readonly HostileCase[] = [...files, ...settings, ...shadows, ...scripts];
