// Code that goes before a test file's own and tells at its end whether the language and its assertions are still what they were.

/**
 * Of what every program is made of: the objects that the language begins with. Clocks and chance are left out, because tests
 * put others in their place, and so is what only prints.
 */
const realmOfJavascript = `const { ownKeys: k, getOwnPropertyDescriptor: d, getPrototypeOf: p } = Reflect;
const { is: i } = Object;
const names = "Object Function Array String Number Boolean Symbol BigInt Error TypeError RangeError SyntaxError AggregateError Promise RegExp Map Set WeakMap WeakSet ArrayBuffer DataView Uint8Array Reflect Proxy JSON Math Iterator isNaN isFinite parseInt parseFloat structuredClone".split(" ");
const left = new Set(["random", "stackTraceLimit", "prepareStackTrace", "input", "lastMatch", "lastParen", "leftContext", "rightContext", "$_", "$&", "$+"]);
const roots = names.map((name) => globalThis[name]).filter((one) => one !== undefined);
const objects = new Set();
const add = (one) => { if ((typeof one === "object" && one !== null) || typeof one === "function") objects.add(one); };
for (const one of roots) { add(one); add(one.prototype); }
for (const one of [[][Symbol.iterator](), ""[Symbol.iterator](), new Map()[Symbol.iterator](), new Set()[Symbol.iterator](), "".matchAll(/x/g), function* () {}, async () => {}, async function* () {}]) { add(p(one)); add(p(p(one))); }
for (const one of [a, a.strict, a.AssertionError, a.AssertionError.prototype]) add(one);
const marks = [];
for (const one of objects) for (const key of k(one)) { if (left.has(key) || /^\\$\\d$/.test(String(key))) continue; const { value, get, set } = d(one, key); if (typeof value === "function" || get !== undefined) marks.push([one, key, value, get, set]); }
const own = ["exit", "kill", "abort"].map((key) => [key, process[key]]);
const code = d(process, "exitCode");
const tops = names.map((name) => [name, globalThis[name]]);
const c = () => { for (let at = 0; at < marks.length; at += 1) { const m = marks[at]; const now = d(m[0], m[1]); if (now === undefined || !i(now.value, m[2]) || !i(now.get, m[3]) || !i(now.set, m[4])) return true; } for (let at = 0; at < own.length; at += 1) if (!i(process[own[at][0]], own[at][1])) return true; const e = d(process, "exitCode"); if (!i(e?.get, code?.get) || !i(e?.set, code?.set)) return true; for (let at = 0; at < tops.length; at += 1) if (!i(globalThis[tops[at][0]], tops[at][1])) return true; return false; };
`;

/**
 * A statement that makes a function of the name, which says whether anything was changed since. It loads before the work.
 * `atEnd` is printed when the process ends by itself and nothing was changed.
 */
export function realmInJavascript(name: string, isModule: boolean, atEnd?: string): string {
  const end =
    atEnd === undefined ? "" : `process.on("exit", () => { if (!c()) w(1, ${JSON.stringify(`\n${atEnd}\n`)}); });`;
  if (!isModule) {
    const brought = 'const a = require("node:assert"); const { writeSync: w } = require("node:fs");';
    return `const ${name} = (() => { ${brought} ${oneLine(realmOfJavascript)} ${end} return c; })();\n`;
  }
  const brought = 'import a from "node:assert";\nimport { writeSync as w } from "node:fs";\n';
  const text = `${brought}${realmOfJavascript}${end}\nexport { c };\n`;
  return `import { c as ${name} } from ${JSON.stringify(`data:text/javascript,${encodeURIComponent(text)}`)};\n`;
}

function oneLine(text: string): string {
  return text.replaceAll("\n", " ");
}

const realmOfPython = `
    import builtins, sys, unittest
    from unittest import case, result
    places = [builtins, unittest, case.TestCase, result.TestResult, unittest.TextTestResult, unittest.TestSuite]
    code = lambda one: getattr(one, "__code__", None)
    marks = [(place, name, one, code(one)) for place in places for name, one in list(vars(place).items()) if callable(one) and name not in ("print", "input", "open", "_")]
    trace = (sys.gettrace(), sys.getprofile())
    def told(names):
        if (sys.gettrace(), sys.getprofile()) != trace:
            return True
        for place, name, one, own in marks:
            now = vars(place).get(name)
            if now is not one or code(now) is not own:
                return True
        for name in names:
            found = sys.modules.get(name)
            if found is not None and name != "__main__" and getattr(found, "__spec__", None) is None:
                return True
        return False
    return told
`;

/** The same for Python. It asks as well whether the modules that the file names are ones that Python found. */
export function realmInPython(name: string): string {
  return `def ${name}():${realmOfPython}${name} = ${name}()\n`;
}

/** Where it goes: before the first import, but after those that must come first. Undefined where there is none. */
export function beforeImports(text: string): number | undefined {
  const first = /^(?:import\s+[\w.]+|from\s+(?!__future__\b)[\w.]+\s+import\b)/m.exec(text);
  return first?.index;
}

/** Modules that the imports of a text of Python name. */
export function importedNames(text: string): string[] {
  const names = [...text.matchAll(/^(?:from\s+([\w.]+)\s+import\b|import\s+([\w.]+(?:\s*,\s*[\w.]+)*)\s*$)/gm)].flatMap(
    ([, from, list = ""]) => (from === undefined ? list.split(/\s*,\s*/) : [from]),
  );
  return [...new Set(names.filter((name) => !name.startsWith(".") && name !== ""))];
}
