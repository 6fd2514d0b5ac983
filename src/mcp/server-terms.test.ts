import assert from "node:assert/strict";
import { test } from "node:test";

import { McpServerEntry } from "../protocol/invocation/mcp-servers.ts";
import { loaderVariables } from "./loader-variables.ts";
import { isTooLong, type ServerTerms, shownTerms, termsHash } from "./server-terms.ts";

const [Stdio, Http] = McpServerEntry.options;
const stdio = { command: "one" };
const http = { url: "https://one.example/mcp" };

/** For every field of the schemas other values than in the two servers above; what is missing here fails the test. */
const stdioChanges: Record<keyof typeof Stdio.shape, readonly unknown[]> = {
  // There is only one way to speak to a program.
  type: [],
  command: ["two", " one", "one\u200b"],
  args: [["a"], ["a b"], ["a", "b"], [""], ["a\nb"], ["x".repeat(5_000)], ["${USER}"]],
  env: [{ A: "1" }, { A: "2" }, { B: "1" }, { A: "${USER}" }, { A: "1", B: "1" }],
  cwd: ["", ".", "tools"],
  files: [["a"], ["a b"], ["a", "b"]],
  network: [false],
  write: [true],
  timeout_ms: [1],
};
const httpChanges: Record<keyof typeof Http.shape, readonly unknown[]> = {
  type: ["streamable-http"],
  url: ["https://one.example/mcp/", "https://one.example@two.example/mcp", "https://one.example/mcp?a=1"],
  headers: [{ A: "1" }, { A: "2" }, { B: "1" }, { A: "Bearer ${TOKEN}" }],
  oauth: [
    { client_id: "a" },
    { client_id: "b" },
    { client_id: "a", client_secret: "s" },
    { client_id: "a", scope: "s" },
    { client_id: "a", grant: "client_credentials" },
  ],
  timeout_ms: [1],
};

const termsOf = (entry: object, more: Partial<ServerTerms> = {}): ServerTerms => ({
  name: "it",
  entry: McpServerEntry.parse(entry),
  code: {},
  ...more,
});
const shown = (terms: ServerTerms): string => shownTerms(terms).lines.join("\n");

for (const [what, schema, base, changes] of [
  ["a program", Stdio, stdio, stdioChanges],
  ["an address", Http, http, httpChanges],
] as const) {
  test(`every field of a server that is ${what} changes both what is agreed to and what is shown`, () => {
    assert.deepEqual(Object.keys(changes).toSorted(), Object.keys(schema.shape).toSorted());
    const entries = Object.entries(changes).flatMap(([field, values]) =>
      values.map((value) => ({ ...base, [field]: value })),
    );
    const all = [base, ...entries].map((entry) => termsOf(entry));
    assert.equal(new Set(all.map(termsHash)).size, all.length);
    assert.equal(new Set(all.map(shown)).size, all.length);
  });
}

test("the files that a server is started from are agreed to and shown, and many of them are counted", () => {
  const mark = (digit: string): string => `sha256 ${digit.repeat(64)}`;
  const many = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`f${at}.js`, mark("a")]));
  const all = [
    {},
    { "a.js": mark("a") },
    { "a.js": mark("b") },
    { "b.js": mark("a") },
    { "node_modules/x/a.js": mark("a") },
    { "node_modules/x/a.js": mark("b") },
    { "a.js": "link to b.js" },
    many,
    { ...many, "g.js": mark("a") },
    { ...many, "f59.js": mark("b") },
  ].map((code) => termsOf(stdio, { code }));
  assert.equal(new Set(all.map(termsHash)).size, all.length);
  assert.equal(new Set(all.map(shown)).size, all.length);
  assert.match(shown(termsOf(stdio, { code: many })), /10 further files/);
});

test("what the server may do comes first, words keep their ends, and nothing breaks out of its line", () => {
  const entry = { command: "sh", args: ["-c", "a\n  | network    none"], env: { A: "b\u202ec" }, write: true };
  const { lines, invisible } = shownTerms(termsOf(entry));
  assert.deepEqual(lines.slice(0, 4), [
    "reads      the task's folders; WHAT IT RUNS FROM THERE CAN CHANGE AFTER YOUR YES",
    "changes    FILES OF THE TASK'S FOLDERS",
    "network    REACHES THE NETWORK",
    "runs       sh -c $'a\\n  | network    none'",
  ]);
  assert.equal(invisible, true);
  assert.ok(lines.includes('variable   A="b\\u{202e}c"'));
  assert.ok(lines.every((line) => !line.includes("\n")));
  assert.equal(shownTerms(termsOf(stdio)).invisible, false);
  for (const text of ["\u0000", "\u200b", "\ud800", "\u001b[2J"]) {
    assert.equal(shownTerms(termsOf({ command: text })).invisible, true, JSON.stringify(text));
  }
});

test("a secret is the name of a variable, and the host of an address is told apart from what looks like it", () => {
  const lines = shown(
    termsOf({ url: "https://good.example@evil.example/", headers: { Authorization: "Bearer ${TOKEN}" } }),
  );
  assert.match(lines, /host {7}"evil\.example"/);
  assert.match(lines, /header {5}Authorization: "Bearer \$\{TOKEN\}"/);
  assert.match(lines, /given {6}your variables TOKEN/);
});

test("settings too long to be read are told apart", () => {
  assert.equal(isTooLong(termsOf({ command: "x", args: ["y".repeat(20_000)] })), true);
  assert.equal(isTooLong(termsOf({ command: "x", args: ["y".repeat(2_000)] })), false);
});

test("variables that decide which code programs load are known by whole families, and usual ones are free", () => {
  const refused =
    "LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT DYLD_INSERT_LIBRARIES NODE_OPTIONS NODE_PATH PATH BASH_ENV ENV PYTHONPATH " +
    "PYTHONSTARTUP PERL5LIB PERL5OPT PERLLIB RUBYOPT RUBYLIB GIT_SSH_COMMAND GIT_EXEC_PATH npm_config_registry UV_INDEX_URL " +
    "PIP_INDEX_URL JAVA_TOOL_OPTIONS _JAVA_OPTIONS DOTNET_STARTUP_HOOKS BUN_OPTIONS HOME TMPDIR TUTTI_FOLDER GCONV_PATH";
  for (const name of refused.split(" ")) assert.equal(loaderVariables([name]).length, 1, name);
  const free =
    "GITHUB_TOKEN API_KEY DEBUG LOG_LEVEL NODE_ENV PYTHONUNBUFFERED DATABASE_URL AWS_PROFILE LANGUAGE ENVIRONMENT";
  assert.deepEqual(loaderVariables(free.split(" ")), []);
});
