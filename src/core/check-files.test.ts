import assert from "node:assert/strict";
import { test } from "node:test";

import { checkCommands } from "./check-commands.ts";
import { checkFiles } from "./check-files.ts";
import { packageScripts, withBaseParts } from "./project-file.ts";

const own = (argv: readonly string[], changed: readonly string[], scripts: Record<string, string> = {}): string[] =>
  checkFiles(changed, { commands: checkCommands(argv, [scripts]), setup: [], cwd: ".", setupCwd: "." });

test("tests, snapshots and settings of a test runner are the check's own; the code under test is not", () => {
  const files = [
    "src/sum.ts",
    "src/sum.test.ts",
    "test/help.ts",
    "jest.config.js",
    "__snapshots__/a.snap",
    "README.md",
  ];
  assert.deepEqual(own(["npx", "jest"], files), [
    "src/sum.test.ts",
    "test/help.ts",
    "jest.config.js",
    "__snapshots__/a.snap",
  ]);
  assert.deepEqual(own(["go", "test", "./..."], ["sum.go", "sum_test.go", "testdata/a"]), [
    "sum_test.go",
    "testdata/a",
  ]);
  assert.deepEqual(own(["pytest"], ["sum.py", "test_sum.py", "conftest.py"]), ["test_sum.py", "conftest.py"]);
  assert.deepEqual(own(["mvn", "test"], ["src/Sum.java", "src/SumTest.java"]), ["src/SumTest.java"]);
});

test("files that the arguments name are the check's own, also through scripts, globs and a shell", () => {
  assert.deepEqual(own(["sh", "scripts/check.sh"], ["scripts/check.sh", "scripts/lib.sh", "a.sh"]), [
    "scripts/check.sh",
    "scripts/lib.sh",
  ]);
  assert.deepEqual(own(["node", "--import=./hook.js", "verify.js"], ["hook.js", "verify.js", "app.js"]), [
    "hook.js",
    "verify.js",
  ]);
  assert.deepEqual(own(["bash", "-c", "set -e; ./verify.py && echo ok"], ["verify.py"]), ["verify.py"]);
  assert.deepEqual(own(["node", "--test", "src/**/*.proof.ts"], ["src/a/b.proof.ts", "src/a/b.ts"]), [
    "src/a/b.proof.ts",
  ]);
  const scripts = { test: "npm run deep", pretest: "node prepare.js", deep: "CI=1 node deep.js" };
  assert.deepEqual(own(["npm", "test"], ["prepare.js", "deep.js", "app.js"], scripts), ["prepare.js", "deep.js"]);
});

test("what a linter is given is the work, and its settings are the check", () => {
  const files = ["src/a.ts", "src/a.test.ts", "tsconfig.json", "eslint.config.js"];
  assert.deepEqual(own(["npx", "eslint", "src/a.ts"], files), ["tsconfig.json", "eslint.config.js"]);
  assert.deepEqual(own(["tsc", "-p", "build.json"], ["build.json", "src/a.ts"]), ["build.json"]);
});

test("ways to replace the program that checks are noticed: installed programs, modules of its name, settings of npm", () => {
  assert.deepEqual(own(["npm", "test"], [".npmrc", "node_modules/.bin/jest"]), [".npmrc", "node_modules/.bin/jest"]);
  assert.deepEqual(own(["python3", "-m", "pytest"], ["pytest.py", "pytest/__init__.py", "app.py"]), [
    "pytest.py",
    "pytest/__init__.py",
  ]);
  assert.deepEqual(own(["cargo", "test"], [".cargo/config.toml", "src/lib.rs"]), [".cargo/config.toml"]);
  assert.deepEqual(own(["make", "check"], ["Makefile", "main.c"]), ["Makefile"]);
});

test("a script that leads to itself ends", () => {
  assert.ok(checkCommands(["npm", "test"], [{ test: "npm test && npm test" }]).length < 10);
});

test("of a package.json only the parts that run checks are taken from the base", () => {
  const base = JSON.stringify({ scripts: { test: "jest" }, dependencies: { a: "1" } });
  const session = JSON.stringify({ scripts: { test: "true" }, jest: { bail: 1 }, dependencies: { a: "1", b: "2" } });
  assert.deepEqual(JSON.parse(withBaseParts("package.json", session, base) ?? ""), {
    scripts: { test: "jest" },
    dependencies: { a: "1", b: "2" },
  });
  assert.equal(
    withBaseParts("package.json", JSON.stringify({ scripts: { test: "jest" }, dependencies: {} }), base),
    undefined,
  );
  assert.equal(withBaseParts("package.json", "{", base), base);
  const project = '[project]\ndependencies = []\n[tool.pytest.ini_options]\naddopts = "-q"\n';
  assert.equal(withBaseParts("pyproject.toml", project.replace("[]", '["a"]'), project), undefined);
  assert.equal(withBaseParts("pyproject.toml", project.replace("-q", "--co"), project), project);
  assert.deepEqual(packageScripts('{"scripts": {"a": "b", "c": 1}}'), { a: "b" });
});
