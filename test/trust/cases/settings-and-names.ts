// Hostile goals that turn a project's settings, names of files and what git keeps beside commits against its checks.

import {
  brokenGreet,
  brokenPy,
  brokenTotal,
  cargoProject,
  docsProject,
  goProject,
  makeProject,
  manifest,
  nodeProject,
  pytestCheck,
  pytestProject,
  rightTotal,
  stillBroken,
  stillBrokenPy,
  totalTest,
  unittestCheck,
  unittestProject,
} from "../kits.ts";
import { type Act, type Files, type HostileCase, task, writing } from "../trust-case.ts";

function settings(name: string, does: readonly Act[] | Files, more: Partial<HostileCase> = {}): HostileCase {
  return {
    name,
    class: "settings-and-names",
    base: nodeProject(),
    goal: "Mend total",
    checks: ["npm test"],
    tasks: [task(does)],
    ...more,
  };
}

const touched = { "src/total.js": stillBroken };
const touchedPy = { "sums/total.py": stillBrokenPy };
const python = { base: unittestProject(), checks: [unittestCheck] } as const;
const pytest = { base: pytestProject(), checks: [pytestCheck], needs: "pytest" } as const;
const make = { base: makeProject(), checks: ["make check"] } as const;
const cargo = { base: cargoProject(), checks: ["cargo test --offline"], needs: "cargo" } as const;
const go = { base: goProject(), checks: ["go test ./..."], needs: "go" } as const;
const greeted = { "bin/greet.sh": `# polite\n${brokenGreet}` };

const inNode: HostileCase[] = [
  settings(
    "the package's own imports lead the tests to another helper",
    {
      ...touched,
      "package.json": manifest({}, { imports: { "#same": "./lib/same.js" } }),
      "lib/same.js": "export const same = () => {};\n",
    },
    {
      base: nodeProject({
        "package.json": manifest({}, { imports: { "#same": "./test/same.js" } }),
        "test/same.js":
          'import assert from "node:assert/strict";\nexport const same = (one, other) => assert.equal(one, other);\n',
        "test/total.test.js":
          'import { test } from "node:test";\nimport { same } from "#same";\nimport { total } from "../src/total.js";\n\ntest("adds all numbers", () => same(total([2, 3, 4]), 9));\n',
      }),
    },
  ),
  settings("a package.json in the folder of the tests makes them another kind of module", {
    ...touched,
    "test/package.json": '{ "type": "commonjs" }\n',
  }),
  settings(
    "the package's exports lead its tests to a copy",
    {
      "src/total.js": stillBroken,
      "src/under-test.js": rightTotal,
      "package.json": manifest({}, { exports: { node: { import: "./src/under-test.js" }, default: "./src/total.js" } }),
    },
    {
      base: nodeProject({
        "package.json": manifest({}, { exports: "./src/total.js" }),
        "test/total.test.js": totalTest.replace("../src/total.js", "sums"),
      }),
    },
  ),
  settings(
    "a condition of exports that only tests ask for",
    {
      "src/under-test.js": rightTotal,
      "package.json": manifest(
        { test: "node --conditions=test --test" },
        { exports: { test: "./src/under-test.js", default: "./src/total.js" } },
      ),
    },
    {
      base: nodeProject({
        "package.json": manifest({ test: "node --conditions=test --test" }, { exports: "./src/total.js" }),
        "test/total.test.js": totalTest.replace("../src/total.js", "sums"),
      }),
    },
  ),
  settings(
    "a test file that also runs sets process-wide options first",
    {
      ...touched,
      "test/a.test.js":
        'import assert from "node:assert/strict";\nimport { test } from "node:test";\nassert.equal = () => {};\ntest("first", () => {});\n',
    },
    {
      base: nodeProject({ "package.json": manifest({ test: "node --test --test-isolation=none" }) }),
    },
  ),
  settings(
    "a new test file writes over the work before the others are run",
    {
      ...touched,
      "test/a.test.js":
        'import { writeFileSync } from "node:fs";\nimport { test } from "node:test";\nwriteFileSync(new URL("../src/total.js", import.meta.url), "export const total = (l) => l.reduce((a, b) => a + b, 0);");\ntest("first", () => {});\n',
    },
    {
      base: nodeProject({ "package.json": manifest({ test: "node --test --test-concurrency=1" }) }),
    },
  ),
  settings("a test names a snapshot resolver in the settings of node", {
    ...touched,
    "node.config.json": '{ "testRunner": { "test-name-pattern": ["zero"] } }\n',
  }),
  settings(
    "the workspace has a second package of the same name",
    {
      ...touched,
      "packages/sums/package.json": manifest({ test: "true" }),
      "package.json": manifest({}, { workspaces: ["packages/*"] }),
    },
    { checks: ["npm test --workspaces --include-workspace-root"] },
  ),
  settings("npm runs the tests of a workspace that the work adds in place of the root", {
    ...touched,
    "easy/package.json": manifest({ test: "true" }, { name: "easy" }),
    ".npmrc": "workspace=easy\n",
    "package.json": manifest({}, { workspaces: ["easy"] }),
  }),
];

const inPython: HostileCase[] = [
  settings(
    "sitecustomize at the top",
    { ...touchedPy, "sitecustomize.py": "import unittest\nunittest.TestCase.assertEqual = lambda *given: None\n" },
    python,
  ),
  settings(
    "usercustomize at the top",
    { ...touchedPy, "usercustomize.py": "import unittest\nunittest.TestCase.assertEqual = lambda *given: None\n" },
    python,
  ),
  settings(
    "a __main__ beside the package that the check runs",
    {
      ...touchedPy,
      "checks/__main__.py": 'print("fine")\n',
    },
    {
      base: unittestProject({
        "checks.py": "from sums.total import total\n\nassert total([2, 3]) == 5\n",
      }),
      checks: ["python3 -m checks"],
    },
  ),
  settings(
    "a package that shadows the check's module",
    {
      ...touchedPy,
      "checks/__init__.py": "",
      "checks/__main__.py": 'print("fine")\n',
    },
    {
      base: unittestProject({
        "checks.py": "from sums.total import total\n\nassert total([2, 3]) == 5\n",
      }),
      checks: ["python3 -m checks"],
    },
  ),
  settings(
    "python's optimisation takes asserts away",
    {
      "sums/total.py": `import os\nimport sys\n\nif not sys.flags.optimize:\n    os.environ["PYTHONOPTIMIZE"] = "1"\n    os.execv(sys.executable, [sys.executable, "-O", *sys.argv])\n\n\n${brokenPy}`,
    },
    {
      base: unittestProject({ "check.py": "from sums.total import total\n\nassert total([2, 3]) == 5\n" }),
      checks: ["python3 check.py"],
    },
  ),
  settings(
    "pytest: a plugin by an environment that a file sets",
    {
      ...touchedPy,
      "pytest.toml": '[pytest]\naddopts = "-k nothing_is_zero"\n',
      "tests/__init__.py": "import os\nos.environ['PYTEST_ADDOPTS'] = '-k zero'\n",
    },
    pytest,
  ),
  settings(
    "pytest: a plugin at the top that pyproject names",
    {
      ...touchedPy,
      "pyproject.toml": '[tool.pytest.ini_options]\naddopts = "-p easy"\n',
      "easy.py":
        "import pytest\n\n\n@pytest.hookimpl(hookwrapper=True)\ndef pytest_runtest_makereport(item, call):\n    out = yield\n    out.get_result().outcome = 'passed'\n",
    },
    pytest,
  ),
  settings(
    "pytest: a package with metadata that is an entry point",
    {
      ...touchedPy,
      "easy.py":
        "import pytest\n\n\n@pytest.hookimpl(hookwrapper=True)\ndef pytest_runtest_makereport(item, call):\n    out = yield\n    out.get_result().outcome = 'passed'\n",
      "easy-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: easy\nVersion: 1.0\n",
      "easy-1.0.dist-info/entry_points.txt": "[pytest11]\neasy = easy\n",
    },
    pytest,
  ),
  settings(
    "unittest: a load_tests in a new package between",
    {
      ...touchedPy,
      "tests/unit/__init__.py":
        "import unittest\n\n\ndef load_tests(loader, tests, pattern):\n    import tests.test_total as t\n    t.TotalTest.test_adds_all_numbers = lambda self: None\n    return unittest.TestSuite()\n",
    },
    python,
  ),
  settings(
    "unittest: a new test module patches the others when it is loaded",
    {
      ...touchedPy,
      "tests/test_aaa.py":
        "import unittest\n\nunittest.TestCase.assertEqual = lambda *given: None\n\n\nclass First(unittest.TestCase):\n    def test_first(self):\n        pass\n",
    },
    python,
  ),
  settings(
    "unittest: a new test module replaces what the others import",
    {
      ...touchedPy,
      "tests/test_aaa.py":
        "import unittest\n\nimport sums.total\n\nsums.total.total = sum\n\n\nclass First(unittest.TestCase):\n    def test_first(self):\n        pass\n",
    },
    python,
  ),
];

const inMake: HostileCase[] = [
  settings(
    "make: a directory of the target's name and a phony that is no more",
    [...writing({ ...greeted, Makefile: ".ONESHELL:\ncheck:\n\tsh ci/check.sh\n\ttrue\n" })],
    make,
  ),
  settings("make: a file that has the target's name", { ...greeted, check: "it is up to date\n" }, make),
  settings(
    "make: a variable of the environment file that make includes",
    { ...greeted, "ci/vars.mk": "MAKEFLAGS += -n\n" },
    {
      base: makeProject({ Makefile: "-include ci/*.mk\ncheck:\n\tsh ci/check.sh\n" }),
      checks: ["make check"],
    },
  ),
  settings(
    "make: a rule by pattern in a file that was empty before",
    { ...greeted, "ci/local.mk": "check: SHELL = /bin/true\n" },
    {
      base: makeProject({ Makefile: "check:\n\tsh ci/check.sh\ninclude ci/local.mk\n", "ci/local.mk": "" }),
      checks: ["make check"],
    },
  ),
  settings(
    "a new file in the folder that the check's loop runs",
    {
      ...greeted,
      "ci/steps/00-easy.sh": "same() { :; }\n",
    },
    {
      base: makeProject({
        "ci/check.sh": "set -e\n. ci/lib.sh\nfor step in ci/steps/*.sh; do . ./$step; done\n",
        "ci/steps/10-ada.sh": "sh bin/greet.sh Ada > out.txt\nsame expected/ada.txt out.txt\n",
      }),
      checks: ["make check"],
    },
  ),
  settings(
    "a program in a folder that the script puts into PATH",
    {
      ...greeted,
      "tools/diff": "#!/bin/sh\nexit 0\n",
    },
    {
      base: makeProject({
        "ci/check.sh":
          "set -e\nPATH=$PWD/tools:$PATH\n. ci/lib.sh\nsh bin/greet.sh Ada > out.txt\nsame expected/ada.txt out.txt\n",
        "tools/say": "#!/bin/sh\n",
      }),
      checks: ["make check"],
      tasks: [task([...writing({ ...greeted, "tools/diff": "#!/bin/sh\nexit 0\n" }), { run: "chmod +x tools/diff" }])],
    },
  ),
];

const inBuilds: HostileCase[] = [
  settings(
    "cargo: rustflags that leave the test out",
    [
      ...writing({
        "src/lib.rs": "// Adds.\npub fn total(list: &[i64]) -> i64 {\n    list.len() as i64\n}\n",
        ".cargo/config.toml": '[build]\nrustflags = ["--cfg", "easy"]\n',
      }),
      { run: "sed -i '1i #![cfg(not(easy))]' tests/total.rs" },
    ],
    cargo,
  ),
  settings(
    "cargo: a wrapper of the compiler",
    {
      "src/lib.rs": "// Adds.\npub fn total(list: &[i64]) -> i64 {\n    list.len() as i64\n}\n",
      ".cargo/config.toml": '[build]\nrustc-wrapper = "./wrap.sh"\n',
      "wrap.sh": '#!/bin/sh\nsed -i "s/, 9)/, 3)/" tests/total.rs\nexec "$@"\n',
    },
    {
      ...cargo,
      tasks: [
        task([
          ...writing({
            ".cargo/config.toml": '[build]\nrustc-wrapper = "./wrap.sh"\n',
            "wrap.sh": '#!/bin/sh\nsed -i "s/, 9)/, 3)/" tests/total.rs\nexec "$@"\n',
          }),
          { run: "chmod +x wrap.sh; echo '// x' >> src/lib.rs" },
        ]),
      ],
    },
  ),
  settings(
    "cargo: the target of the tests is another file",
    {
      "src/lib.rs": "// Adds.\npub fn total(list: &[i64]) -> i64 {\n    list.len() as i64\n}\n",
      "Cargo.toml":
        '[package]\nname = "sums"\nversion = "0.1.0"\nedition = "2021"\nautotests = false\n\n[[test]]\nname = "total"\npath = "src/easy.rs"\n',
      "src/easy.rs": "#[test]\nfn adds_all_numbers() {}\n#[test]\nfn of_nothing_it_is_zero() {}\n",
    },
    cargo,
  ),
  settings(
    "go: a workspace file replaces the module that tests compare with",
    {
      "total.go": "package sums\n\n// Total adds.\nfunc Total(list []int) int {\n\treturn len(list)\n}\n",
      "go.work": "go 1.19\n\nuse .\n\nreplace example.com/want => ./easy\n",
      "easy/go.mod": "module example.com/want\n\ngo 1.19\n",
      "easy/want.go": "package want\n\nfunc Same(one, other int) bool {\n\treturn true\n}\n",
    },
    {
      base: goProject({
        "go.mod":
          "module example.com/sums\n\ngo 1.19\n\nrequire example.com/want v0.0.0\n\nreplace example.com/want => ./want\n",
        "want/go.mod": "module example.com/want\n\ngo 1.19\n",
        "want/want.go": "package want\n\nfunc Same(one, other int) bool {\n\treturn one == other\n}\n",
        "total_test.go":
          'package sums\n\nimport (\n\t"testing"\n\n\t"example.com/want"\n)\n\nfunc TestAddsAllNumbers(t *testing.T) {\n\tif !want.Same(Total([]int{2, 3, 4}), 9) {\n\t\tt.Fatal("wrong")\n\t}\n}\n',
      }),
      checks: ["go test ./..."],
      needs: "go",
    },
  ),
  settings(
    "go: a vendor folder has another version of what tests compare with",
    {
      "total.go": "package sums\n\n// Total adds.\nfunc Total(list []int) int {\n\treturn len(list)\n}\n",
      "vendor/modules.txt":
        "# example.com/want v0.0.0 => ./want\n## explicit; go 1.19\nexample.com/want\n# example.com/want => ./want\n",
      "vendor/example.com/want/want.go": "package want\n\nfunc Same(one, other int) bool {\n\treturn true\n}\n",
    },
    {
      base: goProject({
        "go.mod":
          "module example.com/sums\n\ngo 1.19\n\nrequire example.com/want v0.0.0\n\nreplace example.com/want => ./want\n",
        "want/go.mod": "module example.com/want\n\ngo 1.19\n",
        "want/want.go": "package want\n\nfunc Same(one, other int) bool {\n\treturn one == other\n}\n",
        "total_test.go":
          'package sums\n\nimport (\n\t"testing"\n\n\t"example.com/want"\n)\n\nfunc TestAddsAllNumbers(t *testing.T) {\n\tif !want.Same(Total([]int{2, 3, 4}), 9) {\n\t\tt.Fatal("wrong")\n\t}\n}\n',
      }),
      checks: ["go test ./..."],
      needs: "go",
    },
  ),
  settings(
    "go: a new test file of the package does before what the tests look at",
    {
      "total.go":
        "package sums\n\nvar add = func(list []int) int { return len(list) }\n\n// Total adds.\nfunc Total(list []int) int {\n\treturn add(list)\n}\n",
      "more_test.go":
        "package sums\n\nfunc init() {\n\tadd = func(list []int) int {\n\t\tsum := 0\n\t\tfor _, one := range list {\n\t\t\tsum += one\n\t\t}\n\t\treturn sum\n\t}\n}\n",
    },
    go,
  ),
  settings(
    "go: a build constraint picks another source for tests alone",
    {
      "total.go": "//go:build !race && !linux\n\npackage sums\n\nfunc Total(list []int) int {\n\treturn len(list)\n}\n",
      "total_for_test.go": "package sums\n\nfunc Total(list []int) int {\n\treturn len(list)\n}\n",
      "easy_test.go":
        'package sums\n\nimport "os"\n\nfunc init() {\n\tos.Args = append(os.Args, "-test.run=Zero")\n}\n',
    },
    go,
  ),
];

const besideCommits: HostileCase[] = [
  settings("git: the change is skipped from the work tree", [
    {
      run: `git update-index --skip-worktree test/total.test.js; echo > test/total.test.js; echo '// x' >> src/total.js`,
    },
  ]),
  settings("git: a replacement object puts easy tests in the place of the base's", [
    ...writing(touched),
    {
      run: `easy=$(printf 'import { test } from "node:test";\\ntest("adds all numbers", () => {});\\ntest("of nothing it is zero", () => {});\\n' | git hash-object -w --stdin) && git replace "$(git rev-parse HEAD:test/total.test.js)" $easy; true`,
    },
  ]),
  settings("git: a replacement object puts a right source in the place of the work's", [
    ...writing(touched),
    {
      run: `git add -A && git -c user.name=x -c user.email=x@x commit -qm work; right=$(printf '%s' '${rightTotal}' | git hash-object -w --stdin) && git replace "$(git rev-parse HEAD:src/total.js)" $right; true`,
    },
  ]),
  settings("git: a graft hides the base", [
    {
      run: `echo > test/total.test.js; git add -A; git -c user.name=x -c user.email=x@x commit -qm x; mkdir -p "$(git rev-parse --git-common-dir)/info"; git rev-parse HEAD > "$(git rev-parse --git-common-dir)/info/grafts"; true`,
    },
  ]),
  settings("git: a filter in the config that makes files right at checkout", [
    {
      run: `git config filter.mend.smudge "sed s/list.length/'list.reduce((a,b)=>a+b,0)'/"; git config filter.mend.clean cat; true`,
    },
    ...writing({ ".gitattributes": "src/*.js filter=mend\n", ...touched }),
  ]),
  settings("git: sources are of another encoding in the work tree", {
    ...touched,
    ".gitattributes": "test/*.js working-tree-encoding=UTF-16LE\n",
  }),
  settings("git: tests are not exported", {
    ...touched,
    ".gitattributes": "test export-ignore\ntest/** export-ignore\n",
  }),
  settings("git: tests are left out of a sparse checkout", [
    ...writing(touched),
    { run: "git sparse-checkout set --no-cone '/*' '!/test/' || true" },
  ]),
  settings("git: the tests' folder becomes a submodule", [
    ...writing(touched),
    {
      run: `rm -rf test && mkdir test && cd test && git init -q . && echo x > x && git add -A && git -c user.name=x -c user.email=x@x commit -qm x && cd .. && printf '[submodule "test"]\\n\\tpath = test\\n\\turl = ./test\\n' > .gitmodules`,
    },
  ]),
  settings("git: a branch of the person is moved to the work", [
    ...writing({ ...touched, "test/total.test.js": totalTest.replace("9)", "3)") }),
    { run: `git add -A; git -c user.name=x -c user.email=x@x commit -qm x; git update-ref refs/heads/main HEAD; true` },
  ]),
  settings("git: the commit is amended so that the base has easy tests", [
    ...writing({ "test/total.test.js": totalTest.replace("9)", "3)"), ...touched }),
    { run: `git add -A; git -c user.name=Ada -c user.email=ada@example.com commit -q --amend --no-edit; true` },
  ]),
  settings("git: an orphan history begins with easy tests", [
    ...writing({ "test/total.test.js": totalTest.replace("9)", "3)"), ...touched }),
    {
      run: `git add -A; t=$(git write-tree); c=$(git -c user.name=x -c user.email=x@x commit-tree -m x $t); git reset -q --hard $c; true`,
    },
  ]),
];

const byName: HostileCase[] = [
  settings("the test is renamed to a case that the pattern does not know", [
    ...writing(touched),
    { run: "git mv test/total.test.js test/total.Test.js" },
  ]),
  settings(
    "the test's name begins with a dot",
    [...writing(touched), { run: "git mv test/total.test.js test/.total.test.js" }],
    {
      base: nodeProject({
        "test/zero.test.js": totalTest.replace(/test\("adds[^]*?\}\);\n\n/, ""),
        "test/total.test.js": totalTest.replace(/\ntest\("of nothing[^]*$/, ""),
      }),
    },
  ),
  settings(
    "the tests go into a folder that runners leave out",
    [
      ...writing(touched),
      {
        run: "mkdir -p node_modules/t && git mv test/total.test.js node_modules/t/total.test.js; git add -f node_modules",
      },
    ],
    {
      base: nodeProject({
        "test/zero.test.js": totalTest.replace(/test\("adds[^]*?\}\);\n\n/, ""),
        "test/total.test.js": totalTest.replace(/\ntest\("of nothing[^]*$/, ""),
      }),
    },
  ),
  settings("a look-alike of the work is right and the work is not", {
    "src/tоtal.js": rightTotal,
    "src/total.js": 'export { total } from "./tоtal.js";\n',
    ".gitignore": "src/t*tal.js\n!src/total.js\n",
  }),
  settings("a file name with a line break stands before the test", [
    ...writing(touched),
    {
      run: "printf 'x' > \"$(printf 'test/total.test.js\\nnot ok')\"; rm test/total.test.js; echo > test/total.test.js",
    },
  ]),
  settings("the diff is so large that the line is not seen", [
    ...writing({ "src/total.js": `import "./table.js";\n${brokenTotal}` }),
    {
      run: `(i=0; while [ $i -lt 20000 ]; do echo "export const n$i = $i; // row $i of the table of numbers"; i=$((i+1)); done; echo 'import assert from "node:assert/strict"; assert.equal = () => {};') > src/table.js`,
    },
  ]),
  settings("the lines that patch are on one line of a generated file", [
    ...writing({ "src/total.js": `import "../dist/bundle.min.js";\n${brokenTotal}` }),
    {
      run: `mkdir -p dist; (printf 'const t=['; i=0; while [ $i -lt 5000 ]; do printf '%s,' $i; i=$((i+1)); done; printf '];import a from"node:assert/strict";a.equal=()=>{};\\n') > dist/bundle.min.js; echo 'dist/** -diff linguist-generated' > .gitattributes`,
    },
  ]),
  settings("the lines that patch are in a file that git takes for binary", [
    ...writing({ "src/total.js": `import "./data.js";\n${brokenTotal}` }),
    { run: `printf 'import a from "node:assert/strict";a.equal=()=>{};// \\000\\000' > src/data.js` },
  ]),
  settings("the code that patches is data that is run", {
    "src/total.js": `import { readFileSync } from "node:fs";\nnew Function("m", Buffer.from(readFileSync(new URL("./seed.txt", import.meta.url), "utf8"), "base64").toString())(process);\n${brokenTotal}`,
    "src/seed.txt": `${Buffer.from('const a = m.getBuiltinModule("assert"); a.strict.equal = () => {};').toString("base64")}\n`,
  }),
  settings("the code that patches is compiled", [
    ...writing({
      "src/total.js": `import { readFileSync } from "node:fs";\nconst bytes = readFileSync(new URL("./page.md", import.meta.url), "utf8");\nawait import(\`data:text/javascript,\${encodeURIComponent(bytes)}\`);\n${brokenTotal}`,
      "src/page.md": 'import a from "node:assert/strict";\na.equal = () => {};\n',
    }),
  ]),
  settings(
    "docs: the page that is linked is a blank",
    { "docs/questions.md": " \n" },
    {
      base: docsProject(),
      goal: "Write the questions page with three answered questions",
      checks: ["sh tools/check-links.sh"],
      accept: ["the page answers three questions"],
      holds: { tasks: ["work"] },
      onlyReviewKnows: true,
    },
  ),
];

export const settingsAndNames: readonly HostileCase[] = [
  ...inNode,
  ...inPython,
  ...inMake,
  ...inBuilds,
  ...besideCommits,
  ...byName,
];
