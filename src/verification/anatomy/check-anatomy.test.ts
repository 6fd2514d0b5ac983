import assert from "node:assert/strict";
import { test } from "node:test";

import { baseTree } from "./base-tree.ts";
import { isBesideTests, isPartFile, projectText, rolesIn } from "./changed-parts.ts";
import { checkAnatomy } from "./check-anatomy.ts";

type Files = Readonly<Record<string, string>>;

/** Of the changed paths those that the check is made of; new tests beside the base's have a plus. */
function own(argv: readonly string[], base: Files, changed: readonly string[] | Record<string, string>): string[] {
  const tree = baseTree(Object.keys(base), new Map(Object.entries(base)));
  const anatomy = checkAnatomy(tree, { argv, cwd: ".", setup: [], project: "." });
  const roleOf = rolesIn(anatomy);
  const session = new Map(isList(changed) ? changed.map((path) => [path, ""] as const) : Object.entries(changed));
  return [...session].flatMap(([path, text]) => {
    if (isPartFile(path)) return projectText(anatomy, path, text, base[path]) === undefined ? [] : [path];
    const role = roleOf({ path, isAdded: !tree.has(path) });
    if (role === "new test") return isBesideTests(anatomy, path, Object.keys(base)) ? [`+${path}`] : [];
    return role === "check" ? [path] : [];
  });
}

function isList(changed: readonly string[] | Record<string, string>): changed is readonly string[] {
  return Array.isArray(changed);
}

const nodeTest = 'import test from "node:test";\nimport assert from "node:assert";\n';
const node: Files = {
  "package.json": '{"type":"module","scripts":{"test":"node --test"}}',
  "src/total.js": "export const total = () => 0;",
};

test("tests, their helpers, snapshots and settings are the check's own; the code under test is not", () => {
  const base = {
    ...node,
    "test/total.test.js": `${nodeTest}import { total } from "../src/total.js";\nimport { near } from "../lib/near.js";\nimport "./help.js";`,
    "lib/near.js": "export const near = (a, b) => { if (a !== b) throw new Error(); };",
    "test/help.js": "",
    "jest.config.js": "",
    "__snapshots__/a.snap": "",
    "README.md": "",
  };
  const changed = Object.keys(base).filter((path) => path !== "package.json");
  assert.deepEqual(
    own(["npm", "test"], base, changed),
    changed.filter((path) => !/^src|^README/.test(path)),
  );
});

test("flat projects keep the work and the tests apart, in every language", () => {
  const js = { "total.js": "", "total.test.js": `${nodeTest}import { total } from "./total.js";` };
  assert.deepEqual(own(["node", "--test"], js, ["total.js", "total.test.js", "more.test.js", "tax.js"]), [
    "total.test.js",
    "+more.test.js",
  ]);
  const python = { "total.py": "", "test_total.py": "import unittest\nfrom total import total\n" };
  assert.deepEqual(own(["python3", "-m", "unittest"], python, ["total.py", "test_total.py", "tax.py"]), [
    "test_total.py",
  ]);
  assert.deepEqual(
    own(["go", "test", "./..."], { "sum.go": "", "sum_test.go": "", "testdata/a": "" }, [
      "sum.go",
      "sum_test.go",
      "testdata/a",
    ]),
    ["sum_test.go", "testdata/a"],
  );
  assert.deepEqual(
    own(["mvn", "test"], { "src/Sum.java": "", "src/SumTest.java": "" }, ["src/Sum.java", "src/SumTest.java"]),
    ["src/SumTest.java"],
  );
});

test("what a makefile runs and compares with is the check's, and the program that it runs is the work", () => {
  const base = {
    Makefile:
      "include rules.mk\nPY = python3\n.PHONY: check\ncheck: out\n\t@$(PY) total.py < cases/in.txt | diff - golden.txt\n\tsh scripts/verify.sh\nout:\n\tgrep -q Usage README.md\n",
    "rules.mk": "",
    "total.py": "print(1)",
    "golden.txt": "1",
    "cases/in.txt": "",
    "scripts/verify.sh":
      "#!/bin/sh\n. scripts/lib.sh\nfor f in samples/*.in; do ./run.py $f | cmp - results/$f; done\n",
    "scripts/lib.sh": "",
    "samples/a.in": "",
    "results/a.in": "",
    "README.md": "",
  };
  assert.deepEqual(own(["make", "check"], base, Object.keys(base)), [
    "Makefile",
    "rules.mk",
    "golden.txt",
    "cases/in.txt",
    "scripts/verify.sh",
    "scripts/lib.sh",
    "samples/a.in",
    "results/a.in",
  ]);
  assert.deepEqual(own(["make", "check"], base, ["GNUmakefile", "results/b.in", "util.py"]), [
    "GNUmakefile",
    "results/b.in",
  ]);
});

test("golden files and folders that tests read are the check's, also where their path is put together", () => {
  const base = {
    "bin/cli.js": "",
    "cli.test.js": `${nodeTest}import { spawnSync } from "node:child_process";\nspawnSync("node", ["bin/cli.js"]);\nreadFileSync(join(import.meta.dirname, "data", "one.txt"));\nreadFileSync(\`cases/\${name}.out\`);`,
    "data/one.txt": "",
    "cases/a.out": "",
  };
  assert.deepEqual(own(["node", "--test"], base, [...Object.keys(base), "cases/b.out", "data/two.txt"]), [
    "cli.test.js",
    "data/one.txt",
    "cases/a.out",
    "cases/b.out",
  ]);
  const python = {
    "shop/total.py": "",
    "tests/test_total.py":
      'import json\nfrom pathlib import Path\nfrom shop.total import total\nROOT = Path(__file__).parent.parent\nopen(ROOT / "answers" / "sum.json")\n',
    "answers/sum.json": "",
  };
  assert.deepEqual(own(["pytest"], python, Object.keys(python)), ["tests/test_total.py", "answers/sum.json"]);
});

test("documents that a test only looks at are the work", () => {
  const base = {
    "package.json": node["package.json"] ?? "",
    "README.md": "",
    "docs/guide.md": "",
    "test/docs.test.js": `${nodeTest}import { readFileSync, readdirSync } from "node:fs";\nassert.match(readFileSync("README.md", "utf8"), /Install/);\nreaddirSync("docs");`,
  };
  assert.deepEqual(own(["npm", "test"], base, ["README.md", "docs/guide.md", "docs/new.md", "test/docs.test.js"]), [
    "test/docs.test.js",
  ]);
  assert.deepEqual(own(["grep", "-q", "Install", "README.md"], base, ["README.md", "test/docs.test.js"]), []);
});

test("what a linter is given is the work, and its settings are the check", () => {
  const base = {
    "src/a.ts": "",
    "src/a.test.ts": "",
    "tsconfig.json": "",
    "eslint.config.js": 'import "./rules/own.js";',
    "rules/own.js": "",
    "build.json": "",
  };
  assert.deepEqual(own(["npx", "eslint", "src/a.ts"], base, Object.keys(base)), [
    "tsconfig.json",
    "eslint.config.js",
    "rules/own.js",
  ]);
  assert.deepEqual(own(["tsc", "-p", "build.json"], base, ["build.json", "src/a.ts"]), ["build.json"]);
});

test("scripts, hooks and folders that the words of a check name are its own", () => {
  const base = {
    "hook.js": "",
    "verify.js": 'import "./app.js";',
    "app.js": "",
    "verify.py": "",
    "src/a/b.proof.ts": nodeTest,
    "src/a/b.ts": "",
  };
  assert.deepEqual(own(["node", "--import=./hook.js", "verify.js"], base, ["hook.js", "verify.js", "app.js"]), [
    "hook.js",
    "verify.js",
  ]);
  assert.deepEqual(own(["bash", "-c", "set -e; ./verify.py && echo ok"], base, ["verify.py"]), ["verify.py"]);
  assert.deepEqual(own(["node", "--test", "src/**/*.proof.ts"], base, ["src/a/b.proof.ts", "src/a/b.ts"]), [
    "src/a/b.proof.ts",
  ]);
  const scripts = {
    "package.json":
      '{"scripts":{"test":"npm run deep","pretest":"node prepare.js","deep":"CI=1 node deep.js && npm test"}}',
    "prepare.js": "",
    "deep.js": "",
    "app.js": "",
  };
  for (const argv of [
    ["npm", "t"],
    ["npm", "run", "test"],
    ["yarn", "test"],
    ["pnpm", "run", "test"],
    ["bun", "run", "test"],
  ])
    assert.deepEqual(
      own(argv, scripts, ["prepare.js", "deep.js", "app.js"]),
      ["prepare.js", "deep.js"],
      argv.join(" "),
    );
});

test("what `find` finds belongs to the check where it is run, and is the work where it is looked at", () => {
  const base = { "ci/deep/one.sh": "test 1 = 2\n", "ci/data.txt": "", "bin/greet.sh": "" };
  const changed = Object.keys(base);
  for (const line of [
    'for one in $(find ci -name "*.sh" -perm -u+x); do sh "$one" || exit 1; done',
    "find ci -name '*.sh' -exec sh {} \\;",
    'find ci -name "*.sh" | while read -r one; do sh "$one"; done',
  ]) {
    assert.deepEqual(own(["sh", "check.sh"], { ...base, "check.sh": line }, changed), ["ci/deep/one.sh"], line);
  }
  const looks = 'for one in $(find ci -name "*.sh"); do node --check "$one"; grep -q 1 "$one" || exit 1; done';
  assert.deepEqual(own(["sh", "check.sh"], { ...base, "check.sh": looks }, changed), []);
});

test("an added file stays, unless a runner loads it unasked, or it takes the place of a library, a dependency or a helper", () => {
  const js = {
    ...node,
    "test/total.test.js": `${nodeTest}import "./helper";\nimport "../src/total.js";`,
    "test/helper.js": "",
  };
  const added = [
    "src/tax.js",
    "lib/deep/new.js",
    "scripts/new.js",
    ".npmrc",
    ".mocharc.json",
    "vitest.config.ts",
    "node_modules/x/a.js",
    "test/helper/index.js",
    "test/helper.mjs",
    "test/helper.json",
    "test/package.json",
  ];
  assert.deepEqual(own(["npm", "test"], js, added), added.slice(3));
  const python = {
    "total.py": "",
    "tests/test_total.py": "import pytest\nfrom total import total\n",
    "requirements.txt": "requests==2\n",
  };
  const more = [
    "tax.py",
    "shop/types.py",
    "difflib.py",
    "unittest/__init__.py",
    "tests/json.py",
    "requests.py",
    "pytest.py",
    "sitecustomize.py",
    "a.pth",
    ".pytest.ini",
    "pytest.toml",
    "shop/conftest.py",
    "tests/__init__.py",
  ];
  assert.deepEqual(own(["pytest"], python, more), more.slice(2));
});

test("a base without tests has no parts of its own, so everything new stays, but for what takes hold of programs", () => {
  const base = { "package.json": '{"scripts":{"test":"vitest run"}}' };
  const added = ["src/a.ts", "src/a.test.ts", "vitest.config.ts", "tsconfig.json", ".npmrc", "node_modules/a.js"];
  assert.deepEqual(own(["npm", "test"], base, added), [".npmrc", "node_modules/a.js"]);
  assert.deepEqual(
    own(["npm", "test"], {}, { "package.json": '{"scripts":{"test":"node --test"}}', "a.js": "", "a.test.js": "" }),
    [],
  );
  assert.deepEqual(own(["python3", "-m", "unittest"], {}, ["total.py", "test_total.py", "conftest.py"]), []);
  assert.deepEqual(own(["npm", "test"], {}, { "package.json": '{"scripts":{"test":"true"}}' }), ["package.json"]);
});

test("a new package of a monorepo is work with tests of its own", () => {
  const base = {
    "package.json": '{"workspaces":["packages/*"],"scripts":{"test":"npm test --workspaces"}}',
    "packages/a/package.json": '{"name":"@x/a","scripts":{"test":"node --test"}}',
    "packages/a/a.test.js": nodeTest,
  };
  const added = {
    "packages/b/package.json": '{"name":"@x/b","scripts":{"test":"node --test"},"dependencies":{"@x/a":"workspace:*"}}',
    "packages/b/b.js": "",
    "packages/b/b.test.js": "",
    "packages/b/tsconfig.json": "",
  };
  assert.deepEqual(own(["npm", "test"], base, added), []);
  assert.deepEqual(own(["npm", "test"], base, { "packages/b/package.json": '{"name":"b","bin":{"node":"x.js"}}' }), [
    "packages/b/package.json",
  ]);
});

test("what settings load is the check's, in whatever format they are written", () => {
  const node = { "i.js": "", "test/i.test.js": `${nodeTest}import "../i.js";`, "aux/init.js": "" };
  const formats: Files = {
    ".mocharc.yml": "require:\n  - ./aux/init.js\n",
    ".mocharc.json": '{"require":["./aux/init.js"]}',
    "vitest.config.ts": 'export default { test: { setupFiles: ["./aux/init.js"] } };',
    "jest.config.js": 'import "./aux/init.js";',
    "package.json": '{"main":"i.js","jest":{"setupFiles":["./aux/init.js"]}}',
  };
  for (const [path, text] of Object.entries(formats))
    assert.deepEqual(own(["npx", "jest"], { ...node, [path]: text }, ["i.js", "aux/init.js"]), ["aux/init.js"], path);
  const python = { "i.py": "", "test_i.py": "import i\n", "plug/own.py": "" };
  for (const [path, text] of Object.entries({
    "pytest.ini": "[pytest]\naddopts = -p plug.own\n",
    "conftest.py": 'pytest_plugins = ["plug.own"]\n',
  }))
    assert.deepEqual(own(["pytest"], { ...python, [path]: text }, ["i.py", "plug/own.py"]), ["plug/own.py"], path);
});

test("a program whose output a script keeps is the subject, and what it is given is not", () => {
  const base = {
    "run.sh": '#!/bin/sh\npython3 total.py data.csv > out.txt\ncmp out.txt answer.txt\n[ "$(node count.js)" = 3 ]\n',
    "total.py": "",
    "count.js": "",
    "data.csv": "",
    "answer.txt": "",
  };
  assert.deepEqual(own(["sh", "run.sh"], base, Object.keys(base)), ["run.sh", "data.csv", "answer.txt"]);
});

test("data that the program itself reads is the work, although a test reads it as well", () => {
  const base = {
    "package.json": '{"main":"src/i.js","scripts":{"test":"node --test"}}',
    "src/i.js": 'import words from "./de.json";',
    "src/de.json": "",
    "test/i.test.js": `${nodeTest}import "../src/i.js";\nreadFileSync("src/de.json");`,
  };
  assert.deepEqual(own(["npm", "test"], base, ["src/i.js", "src/de.json"]), []);
});

test("a file that a command's pattern finds beside those of the base is the check's, and so is one that make takes for made", () => {
  const base = {
    Makefile: ".PHONY: docs\ncheck:\n\tsh ci/check.sh\ndocs:\n\ttrue\nbuild/%.o: src/%.c\n\tcc -o $@ $<\n",
    "ci/check.sh": "for step in ci/steps/*.sh; do . ./$step; done\n",
    "ci/steps/one.sh": "sh bin/greet.sh > out.txt\n",
    "bin/greet.sh": "echo Hello\n",
  };
  const added = ["ci/steps/two.sh", "check", "check/a.txt", "build/a.o", "bin/other.sh", "docs/a.md"];
  assert.deepEqual(own(["make", "check"], base, added), ["ci/steps/two.sh", "check", "check/a.txt", "build/a.o"]);
});

test("new tests beside tests of the base are told apart when the check names the top as well", () => {
  const python = { "tests/__init__.py": "", "tests/test_total.py": "import unittest\nimport total\n", "total.py": "" };
  const argv = ["python3", "-m", "unittest", "discover", "-s", "tests", "-t", "."];
  assert.deepEqual(own(argv, python, ["tests/test_more.py"]), ["+tests/test_more.py"]);
});
