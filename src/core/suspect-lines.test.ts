import assert from "node:assert/strict";
import { test } from "node:test";

import { suspectLines } from "./suspect-lines.ts";

function whyOf(path: string, text: string): string | undefined {
  const added = text.split("\n").map((line, at) => ({ path, line: at + 1, text: line }));
  return suspectLines(added, () => false)[0]?.why;
}

const suspicious: readonly (readonly [path: string, text: string])[] = [
  ["src/a.js", "  process.exit(0);"],
  ["src/a.js", 'process["exit"](0)'],
  ["src/a.js", "process[name](0)"],
  ["src/a.js", "process\n  .exit(0)"],
  ["src/a.js", "const { exit } = process;"],
  ["src/a.ts", 'import { exit } from "node:process";'],
  ["src/a.js", "process.reallyExit(0)"],
  ["src/a.js", "process.kill(process.pid)"],
  ["src/a.js", "process.exitCode = 0;"],
  ["src/a.js", 'process.on("uncaughtException", () => {});'],
  ["src/a.js", "process.once('exit', () => { process.exitCode = 0 })"],
  ["src/a.js", 'process.on("SIGTERM", stop)'],
  ["src/a.js", 'import assert from "node:assert";'],
  ["src/a.js", 'const a = require("assert/strict")'],
  ["src/a.js", 'const t = await import("node:test")'],
  ["src/a.js", "globalThis.expect = () => chain;"],
  ["src/a.js", "Module._load = patched"],
  ["src/a.js", "Object.is = () => true"],
  ["src/a.js", 'console.log("# pass 3")'],
  ["src/a.js", "console.log(`ok 1 - adds`)"],
  ["src/a.js", 'write("✔ adds (1ms)")'],
  ["src/a.js", 'fs.writeFileSync("/proc/" + process.ppid + "/fd/1", text)'],
  ["src/a.js", "const file = '/tmp/cache/x';"],
  ["src/a.py", "    os._exit(0)"],
  ["src/a.py", "from os import _exit as leave"],
  ["src/a.py", "sys.exit(0)"],
  ["src/a.py", "    raise SystemExit"],
  ["src/a.py", "atexit.register(done)"],
  ["src/a.py", "except:"],
  ["src/a.py", "    except BaseException:"],
  ["src/a.py", "sys.excepthook = quiet"],
  ["src/a.py", "import unittest"],
  ["src/a.py", "sys.modules['pytest'] = fake"],
  ["src/a.py", 'print("3 passed in 0.01s")'],
  ["src/a.py", "class Same:\n    def __eq__(self, other):\n        return True"],
  ["a.go", "\tos.Exit(0)"],
  ["a.go", '\t"testing"'],
  ["src/lib.rs", "    std::process::exit(0);"],
  ["src/lib.rs", "panic::set_hook(Box::new(|_| {}));"],
  ["run.sh", "echo hello > /proc/$PPID/fd/1"],
  ["package.json", '    "start": "node --import ./hook.js src/main.js",'],
];

test("added lines that end the process, swallow, judge, print results, reach out or name this machine are a doubt", () => {
  for (const [path, text] of suspicious) assert.notEqual(whyOf(path, text), undefined, `${path}: ${text}`);
});

const honest: readonly (readonly [path: string, text: string])[] = [
  ["src/a.js", "process.exitCode = 1;"],
  ["src/a.js", "export function total(items) {\n  return items.reduce((sum, { price }) => sum + price, 0);\n}"],
  ["src/a.js", "// The caller decides whether to process.exit(1)."],
  ["src/a.js", 'if (!(error instanceof TypeError)) throw error; // "test"'],
  ["src/a.js", "const matched = pattern.exec(text);"],
  ["src/a.js", 'console.log(`${count} items in ${process.argv[2]}`); const { env } = process; env["HOME"]'],
  ["src/a.js", 'app.get("/users/:id", (request, response) => response.status(200).send("OK"));'],
  ["src/a.js", 'import { readFileSync } from "node:fs";\nimport { testCases } from "./cases.js";'],
  ["src/a.py", 'if __name__ == "__main__":\n    sys.exit(main())'],
  ["src/a.py", "    except ValueError as error:\n        raise ParseError(str(error)) from error"],
  ["src/a.py", "    def __eq__(self, other):\n        return self.x == other.x"],
  ["src/a.py", "PATTERN = re.compile(r'a+')"],
  ["a.go", 'import "flag"\nfunc Add(a, b int) int { return a + b }'],
  ["src/lib.rs", "pub fn add(a: i32, b: i32) -> i32 {\n    a + b\n}"],
  ["bin/tool.js", "#!/usr/bin/env node"],
  ["README.md", "Call `process.exit(0)` and look into /proc/1/fd/1."],
  ["docs/a.md", "ok 1 - all tests passed in 3s"],
];

test("plain code, comments and prose are no doubt", () => {
  for (const [path, text] of honest) assert.equal(whyOf(path, text), undefined, `${path}: ${text}`);
});

test("files of the check itself are left out, lines are told with their place, and no more than twenty", () => {
  const added = Array.from({ length: 30 }, (_, at) => ({ path: "a.js", line: at + 1, text: "  process.exit(0)" }));
  assert.deepEqual(
    suspectLines(added, (path) => path === "a.js"),
    [],
  );
  const found = suspectLines(added, () => false);
  assert.equal(found.length, 20);
  assert.deepEqual(found[1], { path: "a.js", line: 2, text: "process.exit(0)", why: "ends the process" });
});

test("a statement far along a long line is found", () => {
  const text = `${"a".repeat(50_000)};process.exit(0);${"b".repeat(50_000)}`;
  assert.equal(whyOf("dist/a.min.js", text), "ends the process");
});
