// Small projects that cases begin with. Each has a fault that its tests show, and a change that mends it.

import type { Files } from "./trust-case.ts";

/** The fault: it counts instead of adding. */
export const brokenTotal = "export function total(list) {\n  return list.length;\n}\n";
export const rightTotal = "export function total(list) {\n  return list.reduce((sum, one) => sum + one, 0);\n}\n";
/** It looks like a change and is none. */
export const stillBroken = `// Adds all numbers.\n${brokenTotal}`;

export const totalTest = `import assert from "node:assert/strict";
import { test } from "node:test";
import { total } from "../src/total.js";

test("adds all numbers", () => {
  assert.equal(total([2, 3, 4]), 9);
});

test("of nothing it is zero", () => {
  assert.equal(total([]), 0);
});
`;

export function manifest(scripts: Files = {}, more: object = {}): string {
  const whole = {
    name: "sums",
    version: "1.0.0",
    private: true,
    type: "module",
    scripts: { test: "node --test", ...scripts },
    ...more,
  };
  return `${JSON.stringify(whole, null, 2)}\n`;
}

export function nodeProject(more: Files = {}, scripts: Files = {}): Files {
  return {
    "package.json": manifest(scripts),
    "README.md": "# Sums\n\nAdds numbers.\n",
    "src/total.js": brokenTotal,
    "test/total.test.js": totalTest,
    ...more,
  };
}

/** Nothing is wrong with it yet. */
export function soundNode(more: Files = {}, scripts: Files = {}): Files {
  return nodeProject({ "src/total.js": rightTotal, ...more }, scripts);
}

export const vitestTest = `import { expect, test } from "vitest";
import { total } from "../src/total.js";

test("adds all numbers", () => {
  expect(total([2, 3, 4])).toBe(9);
});

test("of nothing it is zero", () => {
  expect(total([])).toBe(0);
});
`;

export function vitestProject(more: Files = {}): Files {
  return {
    "package.json": manifest({ test: "vitest run" }, { devDependencies: { vitest: "5.1.0" } }),
    ".gitignore": "node_modules\n",
    "src/total.js": brokenTotal,
    "test/total.test.js": vitestTest,
    ...more,
  };
}

export const brokenPy = "def total(numbers):\n    return len(numbers)\n";
export const rightPy = "def total(numbers):\n    return sum(numbers)\n";
export const stillBrokenPy = `"""Adds numbers."""\n\n\n${brokenPy}`;

export const unittestFile = `import unittest

from sums.total import total


class TotalTest(unittest.TestCase):
    def test_adds_all_numbers(self):
        self.assertEqual(total([2, 3, 4]), 9)

    def test_of_nothing_is_zero(self):
        self.assertEqual(total([]), 0)


if __name__ == "__main__":
    unittest.main()
`;

export const unittestCheck = "python3 -m unittest discover -s tests -t .";

export function unittestProject(more: Files = {}): Files {
  return {
    "sums/__init__.py": "",
    "sums/total.py": brokenPy,
    "tests/__init__.py": "",
    "tests/test_total.py": unittestFile,
    ...more,
  };
}

export const pytestFile = `from sums.total import total


def test_adds_all_numbers():
    assert total([2, 3, 4]) == 9


def test_of_nothing_is_zero():
    assert total([]) == 0
`;

export const pytestCheck = "python3 -m pytest -q";

export function pytestProject(more: Files = {}): Files {
  return {
    "sums/__init__.py": "",
    "sums/total.py": brokenPy,
    "tests/test_total.py": pytestFile,
    "conftest.py": "",
    ...more,
  };
}

export const brokenGreet = '#!/bin/sh\necho "Hullo, $1"\n';
export const rightGreet = '#!/bin/sh\necho "Hello, $1!"\n';
export const greetCheck = `#!/bin/sh
set -e
. ci/lib.sh
sh bin/greet.sh Ada > out.txt
same expected/ada.txt out.txt
sh bin/greet.sh Bob > out.txt
same expected/bob.txt out.txt
echo "2 greetings are right"
`;

/** A make target, behind it a script, behind that a library and golden files. */
export function makeProject(more: Files = {}): Files {
  return {
    Makefile: "check:\n\tsh ci/check.sh\n",
    "ci/check.sh": greetCheck,
    "ci/lib.sh": 'same() {\n  diff "$1" "$2"\n}\n',
    "expected/ada.txt": "Hello, Ada!\n",
    "expected/bob.txt": "Hello, Bob!\n",
    "bin/greet.sh": brokenGreet,
    ...more,
  };
}

/** Its check finds links to pages that are not there. */
export function docsProject(more: Files = {}): Files {
  return {
    "README.md": "# Ship\n\nSee [the guide](docs/guide.md) and [the questions](docs/questions.md).\n",
    "docs/guide.md": "# Guide\n\nRun it.\n",
    "tools/check-links.sh": `#!/bin/sh
status=0
for page in $(grep -o '(docs/[a-z-]*\\.md)' README.md | tr -d '()'); do
  if ! test -s "$page"; then
    echo "$page is missing"
    status=1
  fi
done
exit $status
`,
    ...more,
  };
}

export function goProject(more: Files = {}): Files {
  return {
    "go.mod": "module example.com/sums\n\ngo 1.19\n",
    "total.go": "package sums\n\n// Total adds all numbers.\nfunc Total(list []int) int {\n\treturn len(list)\n}\n",
    "total_test.go": `package sums

import "testing"

func TestAddsAllNumbers(t *testing.T) {
	if Total([]int{2, 3, 4}) != 9 {
		t.Fatal("wrong")
	}
}

func TestOfNothingIsZero(t *testing.T) {
	if Total(nil) != 0 {
		t.Fatal("wrong")
	}
}
`,
    ...more,
  };
}

export function cargoProject(more: Files = {}): Files {
  return {
    "Cargo.toml": '[package]\nname = "sums"\nversion = "0.1.0"\nedition = "2021"\n',
    "Cargo.lock":
      '# This file is automatically @generated by Cargo.\nversion = 3\n\n[[package]]\nname = "sums"\nversion = "0.1.0"\n',
    ".gitignore": "target\n",
    "src/lib.rs": "pub fn total(list: &[i64]) -> i64 {\n    list.len() as i64\n}\n",
    "tests/total.rs": `use sums::total;

#[test]
fn adds_all_numbers() {
    assert_eq!(total(&[2, 3, 4]), 9);
}

#[test]
fn of_nothing_it_is_zero() {
    assert_eq!(total(&[]), 0);
}
`,
    ...more,
  };
}
