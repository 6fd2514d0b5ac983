// Tests of Tutti's own that are put into test files, two that must fail and one that must pass, in the words of each runner.

import { beforeImports, importedNames, realmInJavascript, realmInPython } from "./canary-realm.ts";

/** Random for every file and run, so that nobody knows beforehand what has to be reported. */
export interface CanaryIds {
  /** Fails only if every assertion function that the file may use does. */
  readonly asserts: string;
  readonly throws: string;
  readonly passes: string;
}

export interface TestFile {
  readonly path: string;
  readonly text: string;
}

export interface PlantedCanary {
  readonly ids: CanaryIds;
  /** What to write to add the tests; null removes a file. */
  readonly added: ReadonlyMap<string, string | null>;
  /** The same tests with nothing else in the file, so that no code of the work is loaded by it. */
  readonly alone: ReadonlyMap<string, string | null>;
}

/** What an id begins with, so that it is a name in every language. */
export const canaryPrefix = "z";

const javascript = /\.[cm]?[jt]sx?$/;
const testPath =
  /(?:^|[/._-])(?:tests?|specs?|__tests?__|e2e|checks?)(?:[/._-]|$)|(?:^|\/)test_[^/]*\.py$|[a-z](?:Test|Spec)s?\.[^/]+$/;

/** Paths that may hold tests. What is in them decides. */
export function mayHoldTests(path: string): boolean {
  if (/(?:^|\/)node_modules\//.test(path)) return false;
  return (
    path.endsWith(".rs") || path.endsWith("_test.go") || (/\.(?:[cm]?[jt]sx?|py)$/.test(path) && testPath.test(path))
  );
}

/** Undefined when the file holds no tests that are understood. */
export function plantCanary({ path, text }: TestFile, ids: CanaryIds): PlantedCanary | undefined {
  if (javascript.test(path)) return plantJavascript({ path, text }, ids);
  if (path.endsWith(".py")) return plantPython({ path, text }, ids);
  if (path.endsWith("_test.go")) return plantGo({ path, text }, ids);
  if (path.endsWith(".rs")) return plantRust({ path, text }, ids);
  return undefined;
}

function replaced({ path, text }: TestFile, ids: CanaryIds, own: string): PlantedCanary {
  return { ids, added: new Map([[path, `${text}\n${own}`]]), alone: new Map([[path, own]]) };
}

const importsOf = (text: string, name: string): boolean =>
  new RegExp(`(?:\\bfrom\\s*|\\bimport\\s*\\(?\\s*|\\brequire\\s*\\(\\s*)["'](?:${name})["']`).test(text);

function isModule({ path, text }: TestFile): boolean {
  if (/\.m[jt]sx?$/.test(path)) return true;
  return !/\.c[jt]sx?$/.test(path) && /^\s*(?:import\s*[\w{*"']|export\b)/m.test(text);
}

function plantJavascript(file: TestFile, ids: CanaryIds): PlantedCanary | undefined {
  const { text } = file;
  const usesTest = importsOf(text, "node:test");
  const usesVitest = importsOf(text, "vitest");
  const isGlobal = /^\s*(?:describe|it|test|suite)(?:\.\w+)*\s*\(/m.test(text);
  const elsewhere = importsOf(text, "ava|tape|tap|uvu|bun:test|@playwright/test|@japa/runner");
  if (elsewhere || !(usesTest || usesVitest || isGlobal)) return undefined;
  const { asserts, throws, passes } = ids;
  const runner = usesTest ? "node:test" : usesVitest ? "vitest" : undefined;
  const bring = bringer(isModule(file));
  const lines = [
    ...(runner === undefined ? [] : [bring(`T${asserts}`, runner)]),
    ...assertionLines(file, ids),
    ...(runner === undefined
      ? [`const t${asserts} = globalThis.test ?? globalThis.it;`]
      : [`const t${asserts} = T${asserts}.test;`]),
    `t${asserts}("${asserts}", async () => { await s${asserts}(); });`,
    `t${asserts}("${throws}", () => { throw new Error("${throws}"); });`,
    // Vitest and Jest load modules in a way of their own.
    usesTest
      ? `t${asserts}("${passes}", () => { if (r${passes}()) throw new Error("${passes}"); });`
      : `t${asserts}("${passes}", () => {});`,
  ];
  const own = unchecked(lines);
  if (!usesTest) return replaced(file, ids, own);
  const realm = realmInJavascript(`r${passes}`, isModule(file));
  return {
    ids,
    added: new Map([[file.path, `${withFirst(text, realm)}\n${own}`]]),
    alone: new Map([[file.path, `${realm}${own}`]]),
  };
}

/** After the line that says what runs the file. */
function withFirst(text: string, first: string): string {
  const line = /^#!.*\n/.exec(text)?.[0] ?? "";
  return `${line}// @ts-ignore\n${first}${text.slice(line.length)}`;
}

/** Compilers that check types say nothing about lines of ours. */
function unchecked(lines: readonly string[]): string {
  return lines.map((line) => `// @ts-ignore\n;${line}\n`).join("");
}

function bringer(isEsm: boolean): (name: string, from: string) => string {
  return (name, from) =>
    isEsm ? `import * as ${name} from ${JSON.stringify(from)};` : `const ${name} = require(${JSON.stringify(from)});`;
}

const nodeAssertions = [
  "a.ok(false)",
  "a.equal(1, 2)",
  'a.equal("x", "y")',
  "a.strictEqual(1, 2)",
  'a.strictEqual("x", "y")',
  "a.strictEqual(true, false)",
  "a.strictEqual(undefined, null)",
  "a.notEqual(1, 1)",
  "a.notStrictEqual(1, 1)",
  "a.deepEqual({ x: 1 }, { x: 2 })",
  "a.deepEqual([1], [2])",
  "a.deepStrictEqual({ x: 1 }, { x: 2 })",
  "a.deepStrictEqual([1], [2])",
  "a.notDeepEqual([1], [1])",
  "a.notDeepStrictEqual([1], [1])",
  "a.throws(() => {})",
  'a.doesNotThrow(() => { throw new Error("x"); })',
  'a.match("x", /y/)',
  'a.fail("x")',
  'a.ifError(new Error("x"))',
  "a.rejects(async () => {})",
];
const stops = '{ throw new Error("x"); }';
/** What tests go through their values with: each must throw, too. */
const basics = [
  `for (const x of [1]) ${stops}`,
  `for (const x of new Set([1])) ${stops}`,
  `for (const x of new Map([[1, 1]])) ${stops}`,
  `for (const x of "x") ${stops}`,
  `[1].forEach(() => ${stops})`,
  `[1].map(() => ${stops})`,
  `[1].filter(() => ${stops})`,
  `[1].some(() => ${stops})`,
  `[1].every(() => ${stops})`,
  `[1, 2].reduce(() => ${stops})`,
  `new Set([1]).forEach(() => ${stops})`,
  `new Map([[1, 1]]).forEach(() => ${stops})`,
  `for (const x of Object.keys({ x: 1 })) ${stops}`,
  `for (const x of Object.values({ x: 1 })) ${stops}`,
  `for (const x of Object.entries({ x: 1 })) ${stops}`,
  `if (JSON.stringify([1]) !== JSON.stringify([2])) ${stops}`,
  `if ([1].includes(2) === false) ${stops}`,
  `if (Object.is(1, 2) === false) ${stops}`,
];
const expectations = [
  "e(1).toBe(2)",
  'e("x").toBe("y")',
  "e(true).toBe(false)",
  "e(1).not.toBe(1)",
  "e({ x: 1 }).toEqual({ x: 2 })",
  "e([1]).toEqual([2])",
  "e({ x: 1 }).toStrictEqual({ x: 2 })",
  "e(0).toBeTruthy()",
  "e(1).toBeFalsy()",
  "e(1).toBeUndefined()",
  "e(1).toBeNull()",
  "e(undefined).toBeDefined()",
  "e(1).toBeGreaterThan(2)",
  "e([1]).toContain(2)",
  "e([1]).toHaveLength(2)",
  'e("x").toMatch(/y/)',
  "e(() => {}).toThrow()",
];
const chains = [
  "e(1).to.equal(2)",
  "e({ x: 1 }).to.deep.equal({ x: 2 })",
  "e(false).to.be.true",
  "e(() => {}).to.throw()",
];

/** A function that throws the id if each assertion that must throw did, and returns quietly otherwise. */
function assertionLines(file: TestFile, ids: CanaryIds): string[] {
  const { text } = file;
  const { asserts } = ids;
  const bring = bringer(isModule(file));
  const lines: string[] = [];
  const calls = basics.map((basic) => `() => { ${basic} }`);
  const each = (tested: string, functions: readonly string[]): void => {
    // The calls name it by one letter.
    calls.push(...functions.map((call) => `() => { const ${call.slice(0, 1)} = ${tested}; return ${call}; }`));
  };
  if (importsOf(text, "(?:node:)?assert(?:/strict)?") || importsOf(text, "node:test")) {
    const name = `A${asserts}`;
    lines.push(bring(name, "node:assert"));
    const whole = isModule(file) ? `${name}.default` : name;
    for (const tested of [whole, `${whole}.strict`, ...(isModule(file) ? [name] : [])]) each(tested, nodeAssertions);
    calls.push(`() => ${whole}(false)`);
  }
  if (importsOf(text, "chai")) {
    const name = `C${asserts}`;
    lines.push(bring(name, "chai"));
    each(
      `${name}.assert`,
      nodeAssertions.filter((call) => /\.(?:ok|equal|strictEqual|deepEqual|throws)\(/.test(call)),
    );
    each(`${name}.expect`, chains);
  } else if (importsOf(text, "vitest")) {
    each(`T${asserts}.expect`, expectations);
  } else if (importsOf(text, "@jest/globals")) {
    lines.push(bring(`J${asserts}`, "@jest/globals"));
    each(`J${asserts}.expect`, expectations);
  } else if (!importsOf(text, "node:test")) {
    calls.push(
      ...expectations.map(
        (call) =>
          `() => { const e = globalThis.expect; if (e?.extend === undefined) throw new Error("none"); return ${call}; }`,
      ),
    );
  }
  lines.push(
    `async function s${asserts}() { const l = [${calls.join(", ")}]; for (let i = 0; i < ${calls.length}; i += 1) { let q = true; try { await l[i](); } catch { q = false; } if (q) return; } throw new Error("${asserts}"); }`,
  );
  return lines;
}

const unittestCalls = [
  "self.assertEqual(1, 2)",
  "self.assertEqual('x', 'y')",
  "self.assertEqual([1], [2])",
  "self.assertEqual({'x': 1}, {'x': 2})",
  "self.assertNotEqual(1, 1)",
  "self.assertTrue(False)",
  "self.assertFalse(True)",
  "self.assertIs(1, None)",
  "self.assertIsNone(1)",
  "self.assertIn(1, [2])",
  "self.assertGreater(1, 2)",
  "self.assertAlmostEqual(1, 2)",
  "self.assertRaises(ValueError, lambda: None)",
  "self.assertRegex('x', 'y')",
  "self.fail('x')",
];
const pythonBasics = [
  "all([False])",
  "any([False])",
  "len([1]) != 1",
  "sum([1]) != 1",
  "sorted([2, 1]) != [1, 2]",
  "list(zip([1], [2])) != [(1, 2)]",
  "list(map(str, [1])) != ['1']",
  "isinstance(1, str)",
  "max([1, 2]) != 2",
  "abs(-1) != 1",
];
const mainGuard = /^if\s+__name__\s*==/m;

function plantPython(file: TestFile, ids: CanaryIds): PlantedCanary | undefined {
  const { path, text } = file;
  const { asserts, throws, passes } = ids;
  const isUnittest = /^\s*(?:import|from)\s+unittest\b|\bTestCase\b/m.test(text);
  const isPytest = /^(?:async )?def test|^class Test|^\s*(?:import|from)\s+pytest\b/m.test(text);
  if (!isUnittest && !isPytest) return undefined;
  const own = isUnittest
    ? [
        `import unittest as u${asserts}`,
        // Its name is told with each of its tests, so it must hold none of theirs.
        `class Test${asserts.slice(canaryPrefix.length)}(u${asserts}.TestCase):`,
        `    def test_${asserts}(self):`,
        `        for f in [${unittestCalls.map((call) => `lambda: ${call}`).join(", ")}]:`,
        "            try:",
        "                f()",
        "            except AssertionError:",
        "                continue",
        "            return",
        `        if ${pythonBasics.join(" or ")}:`,
        "            return",
        `        self.assertEqual("${asserts}", "x")`,
        `    def test_${throws}(self):`,
        `        raise RuntimeError("${throws}")`,
        `    def test_${passes}(self):`,
        ...realmTest(text, `r${passes}`, "        "),
        "        self.assertEqual(1, 1)",
      ]
    : [
        `def test_${asserts}():`,
        `    if ${pythonBasics.join(" or ")}:`,
        "        return",
        ...(/\bpytest\b/.test(text)
          ? [
              "    import pytest",
              "    try:",
              "        with pytest.raises(ValueError):",
              "            pass",
              "    except BaseException as told:",
              "        if type(told).__name__ != 'Failed':",
              "            return",
              "    else:",
              "        return",
            ]
          : []),
        `    assert "${asserts}" == "x"`,
        `def test_${throws}():`,
        `    raise RuntimeError("${throws}")`,
        `def test_${passes}():`,
        ...realmTest(text, `r${passes}`, "    "),
        "    assert 1 == 1",
      ];
  const block = `\n\n${own.join("\n")}\n\n`;
  const guard = mainGuard.exec(text);
  const [before, after] = guard === null ? [text, ""] : [text.slice(0, guard.index), text.slice(guard.index)];
  const main =
    isUnittest && /\bunittest\.main\s*\(/.test(after) ? `if __name__ == "__main__":\n    u${asserts}.main()\n` : "";
  const at = beforeImports(before);
  const first = at === undefined ? before : `${before.slice(0, at)}${realmInPython(`r${passes}`)}${before.slice(at)}`;
  return {
    ids,
    added: new Map([[path, `${first}${block}${after}`]]),
    alone: new Map([[path, `${block}${main}`]]),
  };
}

/** Lines that fail if the language is not what it was before the file's imports. */
function realmTest(text: string, name: string, indent: string): string[] {
  const names = JSON.stringify(importedNames(text));
  return [
    `${indent}if globals().get("${name}", lambda names: False)(${names}):`,
    `${indent}    raise RuntimeError("changed")`,
  ];
}

function plantGo({ path, text }: TestFile, ids: CanaryIds): PlantedCanary | undefined {
  const [, name] = /^package\s+(\w+)/m.exec(text) ?? [];
  if (name === undefined || !/^func\s+Test\w*\s*\(/m.test(text)) return undefined;
  const { asserts, throws, passes } = ids;
  const constraint = /^\/\/go:build .*$/m.exec(text)?.[0] ?? "";
  const own = [
    ...(constraint === "" ? [] : [constraint, ""]),
    `package ${name}`,
    "",
    'import "testing"',
    "",
    `func TestX${asserts}(t *testing.T) { t.Fatal("${asserts}") }`,
    `func TestX${throws}(t *testing.T) { t.Error("${throws}") }`,
    `func TestX${passes}(t *testing.T) {}`,
    "",
  ].join("\n");
  const beside = `${path.slice(0, path.lastIndexOf("/") + 1)}z${asserts}_test.go`;
  return {
    ids,
    added: new Map([[beside, own]]),
    alone: new Map([
      [beside, own],
      [path, null],
    ]),
  };
}

function plantRust(file: TestFile, ids: CanaryIds): PlantedCanary | undefined {
  const { path, text } = file;
  if (!/#\[\s*(?:test|cfg\s*\(\s*test\s*\))\s*\]/.test(text)) return undefined;
  const { asserts, throws, passes } = ids;
  const own = [
    `#[cfg(test)] mod m${asserts} {`,
    `    #[test] fn t${asserts}() { assert_eq!(1, 2); }`,
    `    #[test] fn t${throws}() { panic!("${throws}"); }`,
    `    #[test] fn t${passes}() { assert_eq!(1, 1); }`,
    "}",
    "",
  ].join("\n");
  const isOwnCrate = /(?:^|\/)tests\/[^/]+\.rs$/.test(path);
  const added = new Map([[path, `${text}\n${own}`]]);
  // The rest of a crate needs the file.
  return { ids, added, alone: isOwnCrate ? new Map([[path, own]]) : added };
}

export interface PlantedScript extends PlantedCanary {
  /** Whether the script itself may end early, so that a canary that was not reached says nothing. */
  readonly mayEndEarly: boolean;
  /** Whether it prints the id of what passes when it ends by itself and the language is what it was. */
  readonly isWatched: boolean;
}

const leaves = /\b(?:process\s*\.\s*exit|sys\s*\.\s*exit|os\s*\.\s*_exit|exit|quit|SystemExit|exec)\b/;

/** For a script that is no test file: a statement at its end that prints an id and fails. */
export function plantScript(file: TestFile, ids: CanaryIds): PlantedScript | undefined {
  const { path, text } = file;
  const body = text.trimEnd();
  const at = body.lastIndexOf("\n") + 1;
  const last = body.slice(at);
  const endsByExit = /^(?:process\s*\.\s*exit|sys\s*\.\s*exit|exit|quit)\b/.test(last);
  const [before, after] = endsByExit ? [body.slice(0, at), `${last}\n`] : [`${body}\n`, ""];
  const own = scriptEnd({ path, text }, ids);
  if (own === undefined) return undefined;
  const lineOne = /^#!.*\n/.exec(text)?.[0] ?? "";
  const watch = javascript.test(path)
    ? `// @ts-ignore\n${realmInJavascript(`r${ids.passes}`, isModule(file), ids.passes)}`
    : "";
  return {
    ids,
    isWatched: watch !== "",
    added: new Map([[path, `${lineOne}${watch}${before.slice(lineOne.length)}\n${own}\n${after}`]]),
    alone: new Map([[path, `${lineOne}${own}\n`]]),
    mayEndEarly: leaves.test(before),
  };
}

function scriptEnd(file: TestFile, ids: CanaryIds): string | undefined {
  const { asserts, throws } = ids;
  const { path, text } = file;
  if (path.endsWith(".py")) {
    // It fails in the way in which the script does. Where asserts are taken away, nothing fails any more.
    const [, call = ""] = /\b((?:sys\s*\.\s*|os\s*\.\s*_)?exit|quit)\s*\(/.exec(text) ?? [];
    const [, module = ""] = /^(sys|os)\b/.exec(call) ?? [];
    const fail = call === "" ? `raise RuntimeError("${throws}")` : `${call}(1)`;
    const brought = module === "" ? "" : `import ${module}\n`;
    return `${brought}try:\n    assert False\nexcept AssertionError:\n    print("\\n${asserts}\\n", flush=True)\n    ${fail}`;
  }
  if (/\.(?:ba|z|k)?sh$/.test(path)) return `printf '\\n%s\\n' ${asserts}\nexit 1`;
  if (!javascript.test(path)) return undefined;
  const bring = bringer(isModule(file));
  const exits = /\bprocess\s*\.\s*exit\b/.test(text);
  // It fails in the way in which the script does.
  const end = exits ? "process.exit(1);" : `throw new Error("${throws}");`;
  const fail = `s${asserts}().catch(() => { F${asserts}.appendFileSync(1, "\\n${asserts}\\n"); ${end} });`;
  const lines = [
    bring(`F${asserts}`, "node:fs"),
    ...assertionLines({ path, text }, ids),
    // Whatever the script still waits for comes first.
    exits ? fail : `process.once("beforeExit", () => { ${fail} });`,
  ];
  return unchecked(lines);
}
