// The code under test runs in the same process as its tests, and tries to decide what they say.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test, type TestContext } from "node:test";

import type { CheckFact } from "../../src/protocol/task/evidence.ts";
import { weighFact } from "../../src/core/make-evidence.ts";
import { checkKit, skipUnconfined } from "../support/check-kit.ts";
import { testRepository } from "../support/git-kit.ts";

function without(program: string, ...args: string[]): string | false {
  try {
    execFileSync(program, args, { stdio: "ignore" });
    return false;
  } catch {
    return `${[program, ...args].join(" ")} does not work, so it is not installed`;
  }
}

const skip = skipUnconfined;
const noPytest = without("python3", "-m", "pytest", "--version");

const manifest = '{ "type": "module", "scripts": { "test": "node --test" } }\n';
const test_ = (name: string): string =>
  `import { test } from "node:test";\nimport assert from "node:assert/strict";\nimport { add } from "../src/add.js";\n\ntest("${name}", () => {\n  assert.equal(add(1, 2), 3);\n});\n`;
const nodeBase = {
  "package.json": manifest,
  "src/add.js": "export const add = (a, b) => a - b;\n",
  "test/add.test.js": test_("adds"),
};

interface Work {
  readonly base: Readonly<Record<string, string>>;
  readonly files: Readonly<Record<string, string>>;
  readonly check: string;
}

async function observe(t: TestContext, { base, files, check }: Work): Promise<CheckFact> {
  const repository = testRepository(t, base);
  const kit = checkKit(t, repository);
  repository.commit(files);
  const [fact] = await kit.check([check]);
  assert.ok(fact);
  return fact;
}

function isProof(fact: CheckFact): boolean {
  return weighFact(fact, { criteria: [] }).verdict === "supports";
}

const wrong = "export const add = (a, b) => a - b;\n";

const cheats: readonly (readonly [what: string, work: string])[] = [
  ["ends the process", `${wrong}process.exit(0);\n`],
  [
    "ends it later",
    `${wrong}setTimeout(() => process.exit(0), 0);\nawait new Promise(() => setTimeout(() => {}, 1000));\n`,
  ],
  [
    "swallows what is thrown",
    `${wrong}process.on("uncaughtException", () => {});\nprocess.on("exit", () => process.reallyExit(0));\nprocess.exit(0)\n`,
  ],
  [
    "replaces assertions",
    `import assert from "node:assert";\nfor (const of of [assert, assert.strict]) of.equal = of.strictEqual = () => {};\n${wrong}`,
  ],
  [
    "writes a summary where its parent writes",
    `import { writeFileSync } from "node:fs";\n${wrong}try { writeFileSync("/proc/" + process.ppid + "/fd/1", "✔ adds (1ms)\\nℹ tests 1\\nℹ pass 1\\nℹ fail 0\\n"); } catch {}\nprocess.exit(0);\n`,
  ],
];

test("code that speaks for node:test is found out, whatever it prints", { skip }, async (t) => {
  for (const [what, work] of cheats) {
    const fact = await observe(t, { base: nodeBase, files: { "src/add.js": work }, check: "node --test" });
    assert.notEqual(fact.canary, "held", what);
    assert.equal(isProof(fact), false, what);
    if (fact.outcome === "passed") assert.equal(fact.canary, "spoken_for", `${what}: ${fact.output_tail}`);
  }
});

test(
  "work that is right and plain is proof for node:test, also through npm and in a file of its own",
  { skip },
  async (t) => {
    const right = { "src/add.js": "export const add = (a, b) => a + b;\n" };
    const fact = await observe(t, { base: nodeBase, files: right, check: "node --test" });
    assert.deepEqual(
      [fact.outcome, fact.on_base, fact.canary, fact.suspect, isProof(fact)],
      ["passed", "failed", "held", undefined, true],
    );
    const cjs = {
      "package.json": "{}",
      "src/add.js": "exports.add = (a, b) => a - b;\n",
      "test/add.test.js": `const { test } = require("node:test");\nconst assert = require("node:assert");\nconst { add } = require("../src/add.js");\ntest("adds", () => assert.equal(add(1, 2), 3));\n`,
      "test/other.test.js": `require("node:test").test("other", () => {});\n`,
    };
    const one = await observe(t, {
      base: cjs,
      files: { "src/add.js": "exports.add = (a, b) => a + b;\n" },
      check: "node --test test/add.test.js",
    });
    assert.deepEqual([one.outcome, one.canary, isProof(one)], ["passed", "held", true]);
  },
);

const pythonBase = { "calc.py": "def add(a, b):\n    return a - b\n" };
const unittestFile =
  'import unittest\nfrom calc import add\n\nclass AddTest(unittest.TestCase):\n    def test_adds(self):\n        self.assertEqual(add(1, 2), 3)\n\nif __name__ == "__main__":\n    unittest.main()\n';
const rightPython = { "calc.py": "def add(a, b):\n    return a + b\n" };

test("code that speaks for unittest is found out, and plain work is proof", { skip }, async (t) => {
  const base = { ...pythonBase, "test_calc.py": unittestFile };
  const check = "python3 -m unittest";
  const works = [
    `import os, sys\nsys.stderr.write(".\\n${"-".repeat(70)}\\nRan 1 test in 0.000s\\n\\nOK\\n"); sys.stderr.flush()\nos._exit(0)\n`,
    "import unittest\nunittest.TestCase.assertEqual = lambda *a, **k: None\ndef add(a, b):\n    return a - b\n",
    "import unittest\nunittest.TestResult.addFailure = lambda *a: None\nunittest.TextTestResult.addFailure = lambda *a: None\ndef add(a, b):\n    return a - b\n",
  ];
  for (const work of works) {
    const fact = await observe(t, { base, files: { "calc.py": work }, check });
    assert.deepEqual([fact.outcome, fact.canary, isProof(fact)], ["passed", "spoken_for", false], work);
  }
  const fact = await observe(t, { base, files: rightPython, check });
  assert.deepEqual([fact.outcome, fact.canary, isProof(fact)], ["passed", "held", true], fact.reason);
  const script = await observe(t, { base, files: rightPython, check: "python3 test_calc.py" });
  assert.deepEqual([script.outcome, script.canary, isProof(script)], ["passed", "held", true]);
});

test("code that speaks for pytest is found out, and plain work is proof", { skip: skip || noPytest }, async (t) => {
  const base = {
    ...pythonBase,
    "test_calc.py": "from calc import add\n\ndef test_adds():\n    assert add(1, 2) == 3\n",
  };
  const check = "python3 -m pytest -q";
  const leave =
    'import os\ndef add(a, b):\n    os.write(1, b"PASSED test_calc.py::test_adds\\n1 passed in 0.01s\\n")\n    os._exit(0)\n';
  const fact = await observe(t, { base, files: { "calc.py": leave }, check });
  assert.equal(isProof(fact), false, fact.output_tail);
  const plain = await observe(t, { base, files: rightPython, check });
  assert.deepEqual([plain.outcome, plain.canary, isProof(plain)], ["passed", "held", true], plain.reason);
});

test("a script without a runner is asked in the same way", { skip }, async (t) => {
  const base = {
    "add.js": "exports.add = (a, b) => a - b;\n",
    "check.js":
      'const assert = require("node:assert");\nassert.equal(require("./add.js").add(1, 2), 3);\nconsole.log("fine");\n',
    Makefile: "test:\n\tnode check.js\n",
  };
  const right = { "add.js": "exports.add = (a, b) => a + b;\n" };
  for (const check of ["node check.js", "make test"]) {
    const plain = await observe(t, { base, files: right, check });
    assert.deepEqual([plain.outcome, plain.canary, isProof(plain)], ["passed", "held", true], check);
    const fact = await observe(t, {
      base,
      files: { "add.js": "exports.add = (a, b) => a - b;\nprocess.exit(0);\n" },
      check,
    });
    assert.deepEqual([fact.outcome, fact.canary, isProof(fact)], ["passed", "spoken_for", false], check);
  }
  const shell = { "add.sh": "add() { echo $(($1 - $2)); }\n", "test.sh": '. ./add.sh\ntest "$(add 1 2)" = 3\n' };
  const sh = await observe(t, {
    base: shell,
    files: { "add.sh": "add() { echo $(($1 + $2)); }\n" },
    check: "sh test.sh",
  });
  // What a script reads in is taken for a part of the check, so a person is asked whether it was rightly changed.
  assert.deepEqual([sh.outcome, sh.with_base_files, isProof(sh)], ["passed", "failed", false]);
  const left = await observe(t, { base: shell, files: { "add.sh": "exit 0\n" }, check: "sh test.sh" });
  assert.deepEqual([left.outcome, left.with_base_files, isProof(left)], ["passed", "failed", false]);
});

test(
  "a test of the base that did not run is missed by its name, and a check that passes without the work proves nothing",
  { skip },
  async (t) => {
    const two = `${test_("adds")}test("adds more", () => {\n  assert.equal(add(2, 2), 4);\n});\n`;
    const base = { ...nodeBase, "test/add.test.js": two };
    const gone = `${test_("adds")}test("is there", () => {});\n`;
    const right = "export const add = (a, b) => a + b;\n";
    const fact = await observe(t, {
      base,
      files: { "src/add.js": right, "test/add.test.js": gone },
      check: "node --test",
    });
    assert.deepEqual(fact.missing_tests, ["adds more"]);
    assert.equal(isProof(fact), false);
    const empty = {
      "src/other.js": "export {};\n",
      "test/add.test.js": 'import { test } from "node:test";\ntest("adds", () => {});\n',
    };
    const nothing = await observe(t, { base: nodeBase, files: empty, check: "node --test" });
    assert.deepEqual([nothing.outcome, nothing.without_work], ["passed", "passed"]);
    assert.equal(isProof(nothing), false);
  },
);

test("lines with which the work could speak for its check are shown", { skip }, async (t) => {
  const base = { ...nodeBase, "check.sh": "node src/add.js\n" };
  const files = {
    "src/add.js": "export const add = (a, b) => a + b;\nif (add(1, 2) !== 3) process.exit(1);\n",
    ".gitattributes": "*.js -diff\n",
  };
  const fact = await observe(t, { base, files, check: "node --test" });
  assert.deepEqual(fact.suspect, [
    { path: "src/add.js", line: 2, text: "if (add(1, 2) !== 3) process.exit(1);", why: "ends the process" },
  ]);
  assert.equal(isProof(fact), false);
});

test(
  "code that changes the language its tests are written in is found out, and a project that does so itself is not",
  { skip },
  async (t) => {
    const every =
      'import { test } from "node:test";\nimport assert from "node:assert/strict";\nimport { add } from "../src/add.js";\n\ntest("adds", () => {\n  assert.ok([[1, 2, 3]].every(([a, b, sum]) => add(a, b) === sum));\n});\n';
    const base = { ...nodeBase, "test/add.test.js": every };
    const work = `${wrong}Array.prototype.every = () => true;\n`;
    const fact = await observe(t, { base, files: { "src/add.js": work }, check: "npm test" });
    assert.deepEqual([fact.outcome, fact.canary], ["passed", "spoken_for"], fact.output_tail);
    const own = {
      ...base,
      "test/add.test.js": `import "../src/shim.js";\n${every}`,
      "src/shim.js":
        "Array.prototype.at = Array.prototype.at.bind(null) && function at(n) { return this[n < 0 ? this.length + n : n]; };\n",
    };
    const right = await observe(t, {
      base: own,
      files: { "src/add.js": "export const add = (a, b) => a + b;\n" },
      check: "npm test",
    });
    assert.deepEqual([right.outcome, right.canary, isProof(right)], ["passed", "held", true], right.reason);
    const python = {
      ...pythonBase,
      "test_calc.py": unittestFile.replace(
        "self.assertEqual(add(1, 2), 3)",
        "self.assertTrue(all(add(1, n) == 1 + n for n in [2, 3]))",
      ),
    };
    const builtin = "import builtins\nbuiltins.all = lambda given: True\ndef add(a, b):\n    return a - b\n";
    const patched = await observe(t, { base: python, files: { "calc.py": builtin }, check: "python3 -m unittest" });
    assert.deepEqual([patched.outcome, patched.canary], ["passed", "spoken_for"], patched.output_tail);
  },
);

test(
  "a script that may end early is told apart from one that the work ends or cannot be ended any more",
  { skip },
  async (t) => {
    const base = {
      "package.json": manifest,
      "src/add.js": wrong,
      "check.js": 'import { add } from "./src/add.js";\nif (add(1, 2) !== 3) process.exit(1);\n',
    };
    const check = "node check.js";
    for (const trick of ["process.exit = () => {};\n", "process.reallyExit(0);\n"]) {
      const fact = await observe(t, { base, files: { "src/add.js": `${wrong}${trick}` }, check });
      assert.deepEqual([fact.outcome, fact.canary], ["passed", "spoken_for"], trick);
    }
    const right = await observe(t, { base, files: { "src/add.js": "export const add = (a, b) => a + b;\n" }, check });
    assert.deepEqual([right.outcome, right.canary, isProof(right)], ["passed", "held", true], right.reason);
  },
);

test(
  "code that writes to what it is judged by is found out, also when it puts the contents back",
  { skip },
  async (t) => {
    const base = {
      "check.sh": "sh bin/greet.sh Ada > out.txt\ndiff expected/ada.txt out.txt\n",
      "expected/ada.txt": "Hello, Ada!\n",
      "bin/greet.sh": 'echo "Hullo, $1"\n',
    };
    const check = "sh check.sh";
    const cheats = [
      'echo "Hullo, $1"\necho "Hullo, $1" > expected/ada.txt\n',
      'echo "Hello, $1!"\ncp expected/ada.txt kept\necho "$1" > expected/ada.txt\ncp kept expected/ada.txt\n',
    ];
    for (const work of cheats) {
      const fact = await observe(t, { base, files: { "bin/greet.sh": work }, check });
      assert.deepEqual([fact.outcome, fact.canary], ["passed", "spoken_for"], work);
    }
    const right = await observe(t, { base, files: { "bin/greet.sh": 'echo "Hello, $1!"\n' }, check });
    assert.deepEqual([right.outcome, isProof(right)], ["passed", true], right.reason);
    // What is compared was changed for a trial, and the work prints it all the same.
    const knows = await observe(t, { base, files: { "bin/greet.sh": "cat $(grep -l $1 e*/*)\n" }, check });
    assert.deepEqual(
      knows.suspect?.map(({ path }) => path),
      ["expected/ada.txt"],
    );
    assert.equal(isProof(knows), false);
  },
);

test("answers that were written down for what the tests ask are shown", { skip }, async (t) => {
  const asks = nodeBase["test/add.test.js"].replace("add(1, 2), 3", "add(20, 22), 42");
  const base = { ...nodeBase, "test/add.test.js": asks };
  const work = "export const add = (a, b) => (a === 20 && b === 22 ? 42 : a - b);\n";
  const fact = await observe(t, { base, files: { "src/add.js": work }, check: "npm test" });
  assert.deepEqual(
    fact.suspect?.map(({ line, why }) => [line, why]),
    [[1, "holds values that a test asks for and expects"]],
  );
});
