import assert from "node:assert/strict";
import { test } from "node:test";

import { packageWithBase } from "./package-parts.ts";
import { projectWithBase } from "./project-parts.ts";
import { tomlEntries } from "./toml-entries.ts";

const packages = (session: unknown, base: unknown): unknown => {
  const text = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));
  const mixed = packageWithBase({
    session: text(session),
    base: text(base),
    tools: new Set(["runner", "npm"]),
    isKnown: (name) => name === "own",
    keepsScript: (line) => line !== "true",
    isCheck: (target) => target.startsWith("./test/"),
  });
  if (mixed === undefined || mixed === base) return mixed;
  return JSON.parse(mixed);
};

test("of a package.json only the parts that run checks are taken from the base", () => {
  const base = { scripts: { test: "jest" }, dependencies: { a: "1" } };
  assert.deepEqual(packages({ scripts: { test: "true" }, jest: { bail: 1 }, dependencies: { a: "1", b: "2" } }, base), {
    scripts: { test: "jest" },
    dependencies: { a: "1", b: "2" },
  });
  assert.equal(packages({ scripts: { test: "jest" }, dependencies: {} }, base), undefined);
  assert.equal(
    packages(
      { dependencies: { a: "^1.2.3", b: "*", own: "workspace:*" }, scripts: { test: "jest", build: "tsc" } },
      base,
    ),
    undefined,
  );
  assert.equal(packages("{", JSON.stringify(base)), JSON.stringify(base));
});

test("dependencies from elsewhere than a registry, and those that bring the check's programs, are the base's", () => {
  const base = { devDependencies: { runner: "1.0.0" } };
  for (const spec of [
    "file:./src/runner",
    "link:../x",
    "git+https://x/y",
    "https://x/y.tgz",
    "me/runner",
    "npm:other@1",
    "2.0.0",
    "workspace:*",
  ]) {
    assert.deepEqual(packages({ devDependencies: { runner: spec } }, base), base, spec);
    const moved = JSON.stringify(packages({ devDependencies: {}, dependencies: { runner: spec } }, base));
    assert.ok(!moved.includes(spec), spec);
  }
  assert.deepEqual(packages({ ...base, overrides: { runner: "file:x" } }, base), base);
  assert.deepEqual(packages({ ...base, dependencies: { x: "file:./x" } }, base), base);
});

test("what a name of the package means to the check is the base's, and other names are the work", () => {
  const base = {
    name: "sums",
    exports: { ".": "./src/total.js", "./compare": "./test/compare.js", "./kit/*": { node: "./test/*.js" } },
    imports: { "#lib/*": "./test/*.js", "#own": "./src/own.js" },
  };
  const same = { ...base, exports: { ...base.exports, ".": "./src/sum.js", "./mean": "./src/mean.js" } };
  assert.equal(packages(same, base), undefined);
  const moved = { ...same.exports, "./compare": "./src/compare.js" };
  assert.deepEqual(packages({ ...same, exports: moved }, base), same, "a key leads elsewhere");
  const stood = { ...same.exports, "./kit/same": "./src/same.js" };
  assert.deepEqual(packages({ ...same, exports: stood }, base), same, "a longer key goes before one with a star");
  assert.deepEqual(packages({ ...same, exports: { ".": "./src/total.js" } }, base), base, "a key is gone");
  assert.deepEqual(
    packages({ name: "sums", imports: base.imports }, base),
    base,
    "without `exports`, all files are open",
  );
  assert.deepEqual(packages({ ...base, imports: { ...base.imports, "#lib/same": "./src/same.js" } }, base), base);
  assert.deepEqual(packages({ ...base, name: "other" }, base), base, "by another name it finds itself no more");
  const begun = { name: "kit", main: "./test/kit.js" };
  assert.deepEqual(packages({ ...begun, main: "./fake.js" }, begun), begun);
});

test("settings of tools in a pyproject.toml are found however they are written; dependencies are not settings", () => {
  const path = "pyproject.toml";
  const tools = new Set(["pytest"]);
  const base = '[project]\ndependencies = []\n[tool.pytest.ini_options]\naddopts = "-q"\n';
  assert.equal(projectWithBase(path, base.replace("[]", '["a"]'), base, tools), undefined);
  assert.equal(projectWithBase(path, base.replace("[]", '["pytest @ file:///x"]'), base, tools), base);
  assert.equal(projectWithBase(path, base.replace("-q", "--co"), base, tools), base);
  const bare = "[project]\nname = 'a'\n";
  for (const added of [
    "  [tool.pytest.ini_options]\n  addopts = '--co'\n",
    "[ tool . pytest . ini_options ]\na = 1\n",
    "[tool]\npytest = {ini_options = {a = 1}}\n",
    '[tool."pytest".ini_options]\na = 1\n',
    '[tool]\n"py\\u0074est".ini_options.a = 1\n',
    "[tool.x\n",
  ]) {
    assert.equal(projectWithBase(path, bare + added, bare, tools), bare, added);
  }
  assert.equal(projectWithBase(path, `tool.pytest.ini_options.a = 1\n${bare}`, bare, tools), bare);
  assert.equal(
    projectWithBase(path, `${bare}[tool.poetry.dependencies]\nrequests = "^2"\n# [tool.pytest]\n`, bare, tools),
    undefined,
  );
  assert.equal(tomlEntries('a = """\n[tool.x]\n"""\nb = [ # c\n  1,\n]\n')?.length, 2);
});

test("of Cargo.toml, go.mod, setup.cfg and lock files the parts that run checks count", () => {
  const none = new Set<string>();
  const cargo = '[package]\nname = "a"\n[dependencies]\nserde = "1"\n';
  assert.equal(projectWithBase("Cargo.toml", `${cargo}rand = "0.8"\n`, cargo, none), undefined);
  for (const added of [
    'rand = { path = "x" }\n',
    '[[test]]\nname = "t"\nharness = false\n',
    "[profile.test]\npanic = 'abort'\n",
    "[patch.crates-io]\nserde = { path = 'x' }\n",
  ])
    assert.equal(projectWithBase("Cargo.toml", cargo + added, cargo, none), cargo, added);
  const go = "module a\n\nrequire x v1\n";
  assert.equal(projectWithBase("go.mod", `${go}require y v1\n`, go, none), undefined);
  assert.equal(projectWithBase("go.mod", `${go}replace (\n  x => ./x\n)\n`, go, none), go);
  const list = "requests==2\npytest==8\n";
  assert.equal(projectWithBase("requirements.txt", `${list}flask\n`, list, new Set(["pytest"])), undefined);
  for (const added of ["-e ./x\n", "--index-url http://x\n", "x @ file:///x\n", "./x\n", "pytest==7\n"])
    assert.equal(projectWithBase("requirements.txt", list + added, list, new Set(["pytest"])), list, added);
  assert.equal(projectWithBase("setup.cfg", "[metadata]\nname = b\n", "[metadata]\nname = a\n", none), undefined);
  assert.equal(projectWithBase("setup.cfg", " [ tool:pytest ]\naddopts = --co\n", "", none), "");
  const lock = (version: string, more = ""): string =>
    JSON.stringify(
      { packages: { "node_modules/runner": { version, resolved: `https://registry.npmjs.org/${version}` } } },
      null,
      2,
    ) + more;
  assert.equal(projectWithBase("package-lock.json", lock("2"), lock("1"), new Set(["runner"])), lock("1"));
  assert.equal(projectWithBase("package-lock.json", lock("2"), lock("1"), new Set(["jest"])), undefined);
});
