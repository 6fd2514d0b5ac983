import assert from "node:assert/strict";
import { test } from "node:test";

import { reachingLines } from "./reaching-lines.ts";

/** The lines that are found. */
function found(path: string, ...lines: readonly string[]): string[] {
  const added = lines.map((text, at) => ({ path, line: at + 1, text }));
  return [...reachingLines(added).keys()].map((at) => lines[at] ?? "");
}

/** Every one is found alone. */
function all(path: string, ...lines: readonly string[]): void {
  assert.deepEqual(
    lines.filter((line) => found(path, line).length === 0),
    [],
  );
}

test("JavaScript that can tell where and when it runs is found, by whatever of the platform it asks", () => {
  all(
    "src/a.js",
    "if (process.env.NODE_ENV) return 1;",
    'const { env } = globalThis["pro" + "cess"];',
    "return process.argv.some((one) => one.length > 3);",
    "if (process.stdout.isTTY) return 1;",
    "return Date.now() < 5;",
    "const now = new Date();",
    "if (performance.now() > 3) return 1;",
    "return /x/.test(new Error().stack);",
    'import { hostname } from "node:os";',
    'const { execSync } = require("child_process");',
    "const name = `${process.pid}`;",
    'const quote = /"/; if (process.env.A) return "";',
    'return [].constructor["con" + "structor"]("x");',
    "const made = await import(name);",
    "return { valueOf: () => 9 };",
    "if (Math.random() < 0.5) return 1;",
    'if (existsSync(".git")) return 1;',
  );
});

test("JavaScript that only computes, reads files or prints is not", () => {
  assert.deepEqual(
    found(
      "src/a.js",
      'import { readFileSync } from "node:fs";',
      'import { join } from "node:path";',
      "// process.env is not read here",
      "/* nor",
      " * is process.env here */",
      'const text = "process.env";',
      "const at = new Date(seconds * 1000).getTime();",
      'process.stdout.write("done\\n");',
      "const [, , name] = process.argv.slice(2);",
      "const list = [`${one}x`, ...rest];",
      "process.exitCode = 1;",
      "const { process: work } = options;",
      "const window = 3;",
      'const url = new URL("./a.json", import.meta.url);',
    ),
    [],
  );
});

test("a template over several lines hides no code", () => {
  assert.deepEqual(found("a.js", "const a = `one", "${process.env.A} two`;"), ["${process.env.A} two`;"]);
});

test("Python that can tell where and when it runs is found", () => {
  all(
    "sums/a.py",
    "import inspect",
    "import os as system",
    "from os import environ",
    "from sys import argv",
    'if "x" in os.environ:',
    "if sys.argv[0] == 'x':",
    "return 1 if time.time() > 3 else 2",
    "today = date.today()",
    "names = globals()",
    'value = f"{os.getpid()}"',
    "return total.__globals__",
    'Sum = type("Sum", (int,), {})',
    "    def __eq__(self, other):",
    'name = "__" + "eq__"',
    "import subprocess",
  );
  assert.deepEqual(
    found(
      "sums/a.py",
      "import os",
      "import sys",
      "import json, re",
      "from sums.total import total",
      "import requests",
      'path = os.path.join("a", "b")',
      "print(total, file=sys.stderr)",
      'if __name__ == "__main__":',
      "    def __init__(self):",
      "        super().__init__()",
    ),
    [],
  );
});

test("Go, Rust and a shell are read in their own words", () => {
  all(
    "total.go",
    'if flag.Lookup("test.v") != nil {',
    '\to "os"',
    '\t"runtime"',
    '\t"testing"',
    "if time.Now().Unix() < 3 {",
    "for _, one := range os.Args {",
    "//go:build linux",
  );
  assert.deepEqual(found("total.go", '\t"fmt"', '\t"os"', '\t"time"', "wait := 3 * time.Second", "os.Exit(2)"), []);
  all(
    "src/lib.rs",
    'if std::env::var("X").is_ok() {',
    "use std::{collections::HashMap, env};",
    "if cfg!(test) {",
    "#[cfg(not(test))]",
    'let x = option_env!("X");',
    "impl PartialEq<i64> for Sum {",
    "unsafe { x() }",
  );
  assert.deepEqual(found("src/lib.rs", "use std::collections::HashMap;", "#[cfg(test)]", "mod tests {"), []);
  all("bin/a.sh", 'test -n "$MAKELEVEL"', "if test -t 0; then", "[ -t 1 ] && exit", 'echo "$0"', "if tty; then");
  assert.deepEqual(found("bin/a.sh", "NAME=$1", 'echo "Hello, $NAME $2"', 'for F in a b; do echo "$F"; done'), []);
});

test("a program of the build and a script without an ending are read as well", () => {
  all("build.rs", "fn main() {}");
  assert.deepEqual(found("bin/a", "#!/bin/sh", "test -t 0"), ["test -t 0"]);
});
