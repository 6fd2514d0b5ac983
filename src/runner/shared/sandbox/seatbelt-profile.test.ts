import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "../../../../test/support/properties.ts";

import { seatbeltLauncher, type SeatbeltOptions, seatbeltProfile } from "./seatbelt-profile.ts";

const base: SeatbeltOptions = {
  writable: ["/work"],
  hidden: [],
  readOnly: [],
  blank: [],
  network: false,
  temporary: "/private/tmp/run",
  mayChangeProtected: false,
};

/** Reads the profile as the system does: nested lists of words and strings. Throws when it is not well formed. */
function parse(text: string): unknown[] {
  const top: unknown[] = [];
  const open: unknown[][] = [top];
  for (let at = 0; at < text.length; at += 1) {
    const letter = text[at] ?? "";
    if (letter === "(") {
      const list: unknown[] = [];
      open.at(-1)?.push(list);
      open.push(list);
    } else if (letter === ")") {
      assert.ok(open.length > 1, "a list ends that did not begin");
      open.pop();
    } else if (letter === '"') {
      let value = "";
      for (at += 1; text[at] !== '"'; at += 1) {
        assert.ok(at < text.length, "a string does not end");
        if (text[at] !== "\\") value += text[at];
        else {
          at += 1;
          value += text[at] === "n" ? "\n" : text[at] === "r" ? "\r" : (text[at] ?? "");
        }
      }
      open.at(-1)?.push({ text: value });
    } else if (/\S/.test(letter)) {
      const word = /^[^\s()"]+/.exec(text.slice(at))?.[0] ?? "";
      open.at(-1)?.push(word);
      at += word.length - 1;
    }
  }
  assert.equal(open.length, 1, "a list does not end");
  return top;
}

const rulesOf = (options: SeatbeltOptions): unknown[] => parse(seatbeltProfile(options));
const isRule = (rule: unknown, verdict: string, name: string): rule is unknown[] =>
  Array.isArray(rule) && rule[0] === verdict && rule.includes(name);

test("everything is denied unless it is allowed, and only the roots and the run's own folder may be written", () => {
  const rules = rulesOf(base);
  assert.deepEqual(rules.slice(0, 2), [
    ["version", "1"],
    ["deny", "default"],
  ]);
  const writes = rules.filter((rule) => isRule(rule, "allow", "file-write*"));
  assert.deepEqual(writes, [
    ["allow", "file-write*", ["subpath", { text: "/work" }], ["subpath", { text: "/private/tmp/run" }]],
  ]);
});

test("the network is allowed only when the call asks for it", () => {
  assert.doesNotMatch(seatbeltProfile(base), /network/);
  assert.match(seatbeltProfile({ ...base, network: true }), /^\(allow network\*\)$/m);
});

test("no path can leave its string: quotes, parentheses, backslashes and line breaks stay part of the path", () => {
  const hostile = fc.string({ unit: fc.constantFrom('"', "\\", "(", ")", "\n", "\r", ";", " ", "a", "/", "#", "é") });
  fc.assert(
    fc.property(hostile, (name) => {
      const path = `/work/${name}`;
      const plain = rulesOf(base).length + 2;
      const rules = rulesOf({ ...base, writable: ["/work", path], hidden: [path], readOnly: [path] });
      // One rule more for the second root, and one each for what is read-only and hidden.
      assert.equal(rules.length, plain + 1);
      const [last] = rules.slice(-1);
      assert.deepEqual(last, ["deny", "file-read*", "file-write*", ["subpath", { text: path }]]);
    }),
    { numRuns: 300 },
  );
});

test("protected files may not be written, also when they do not exist yet, in any case of letters", () => {
  const root = "/work (a+b)/x.y";
  const denied = rulesOf({ ...base, writable: [root] })
    .filter((rule) => isRule(rule, "deny", "file-write*"))
    .flatMap((rule) => rule.filter((part): part is [string, { text: string }] => Array.isArray(part)))
    .map(([kind, { text }]) => {
      assert.equal(kind, "regex");
      return new RegExp(text, "s");
    });
  const isDenied = (path: string): boolean => denied.some((regex) => regex.test(path));
  for (const path of [
    ".git",
    ".git/hooks/pre-commit",
    "sub/.GIT/config",
    "tutti.config.mjs",
    "Tutti.Config.json",
    ".tutti/agents/a.md",
    ".claude/settings.json",
    ".mcp.json",
    ".vscode/tasks.json",
    "deep/er/.vscode/Settings.json",
    ".idea/x",
    ".husky/pre-commit",
    ".envrc",
    ".cursor/mcp.json",
    ".zed/tasks.json",
    "sub/Team.Code-Workspace",
    ".nvim.lua",
  ]) {
    assert.ok(isDenied(`${root}/${path}`), path);
  }
  for (const path of ["a", ".gitignore", ".github/x", "tutti.configuration", ".vscode/launch.json", "x.git/y", "git"]) {
    assert.ok(!isDenied(`${root}/${path}`), path);
  }
  assert.ok(!isDenied("/work aab/xzy/.git"), "the root is taken literally");
  const free = rulesOf({ ...base, mayChangeProtected: true });
  assert.ok(!free.some((rule) => isRule(rule, "deny", "file-write*")));
});

test("what is hidden is denied last, so that no other rule allows it", () => {
  const rules = rulesOf({ ...base, hidden: ["/work/state"], blank: ["/work/key"] });
  const paths = [
    ["subpath", { text: "/work/state" }],
    ["subpath", { text: "/work/key" }],
  ];
  assert.deepEqual(rules.at(-1), ["deny", "file-read*", "file-write*", ...paths]);
});

test("the profile is one argument, and the program comes after the end of the options", () => {
  const { argv } = seatbeltLauncher("/usr/bin/sandbox-exec", "(version 1)");
  assert.deepEqual(argv, ["/usr/bin/sandbox-exec", "-p", "(version 1)"]);
});
