import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "../../test/support/properties.ts";
import { checkClaims, type ClaimFacts, effortSentence } from "./check-claims.ts";
import { findClaims } from "./find-claims.ts";

const facts = (more: Partial<ClaimFacts> = {}): ClaimFacts => ({
  changed: ["src/a.ts"],
  changedCount: 1,
  existingFiles: new Set(),
  existingCommits: new Set(),
  lookedUp: new Map(),
  calls: 3,
  commands: ["npm test"],
  tests: [],
  ...more,
});
const findings = (words: string, more: Partial<ClaimFacts> = {}): string[] =>
  checkClaims(findClaims(words), facts(more)).map(({ kind }) => kind);

test("an honest account has no findings", () => {
  const words =
    "I ran `npm test` and updated `src/a.ts`. I added a helper to /srv/x/src/a.ts. All tests pass: 12 tests passed.";
  assert.deepEqual(findings(words, { tests: [{ runner: "jest", passed: 12, failed: 0, skipped: 1 }] }), []);
  assert.deepEqual(findings("You could create `src/b.ts` next. I have not changed `src/c.ts`."), []);
});

test("a file, a commit, a pull request or a comment that is named and not there is a finding", () => {
  assert.deepEqual(findings("I created `src/new.ts` with the parser."), ["file"]);
  assert.deepEqual(findings("I updated src/old.ts.", { existingFiles: new Set(["src/old.ts"]) }), ["file"]);
  assert.deepEqual(findings("Done in commit 1a2b3c4d."), ["commit"]);
  assert.deepEqual(findings("Done in commit 1a2b3c4d.", { existingCommits: new Set(["1a2b3c4d"]) }), []);
  const url = "https://github.com/ada/engine/pull/7";
  assert.deepEqual(findings(`PR opened: ${url}.`, { lookedUp: new Map([[url, false]]) }), ["pr"]);
  assert.deepEqual(findings(`PR opened: ${url}`, { lookedUp: new Map([[url, true]]) }), []);
  const comment = `${url}#issuecomment-12`;
  assert.deepEqual(findings(`I answered in ${comment}`, { lookedUp: new Map([[comment, false]]) }), ["comment"]);
});

test("all files updated after 7 of 100: the count is taken from what changed", () => {
  assert.deepEqual(findings("I updated all 100 files.", { changedCount: 7 }), ["count"]);
  assert.deepEqual(findings("All files were updated.", { changedCount: 7, items: 100 }), ["count"]);
  assert.deepEqual(findings("I updated all 7 files.", { changedCount: 7 }), []);
});

test("every file of a folder is held against the folder, and a part of it is no whole", () => {
  const changed = ["docs/a.md", "docs/b.md", "docs/c.css"];
  const folder = { inFolders: ["docs/a.md", "docs/b.md", "docs/c.css", "docs/d.md"], changed, changedCount: 3 };
  assert.deepEqual(findings("I updated every file in `docs/`.", folder), ["count"]);
  assert.deepEqual(findings("All of the pages in docs were updated.", folder), ["count"]);
  assert.deepEqual(findings("I looked at all files in docs and updated three.", folder), []);
  assert.deepEqual(findings("I updated all files in docs that name the year.", folder), []);
  assert.deepEqual(findings("I updated all files in docs/old that name the year.", folder), []);
  const whole = { ...folder, inFolders: changed };
  assert.deepEqual(findings("I updated each of the 3 files in docs.", whole), []);
  assert.deepEqual(findings("All pages of docs were updated.", { ...whole, inFolders: ["docs/a.md"] }), []);
});

test("a tool call that was only narrated is a finding: the log is what counts", () => {
  assert.deepEqual(findings("I ran `npm run lint` and it was clean."), ["call"]);
  assert.deepEqual(findings('<tool_call>\n{"name": "run"}\n</tool_call>'), ["call"]);
  assert.deepEqual(findings("All tests pass.", { commands: [] }), ["tests"]);
});

test("done after no tool call at all is a finding, and the effort is shown", () => {
  assert.deepEqual(findings("Done.", { calls: 0 }), ["effort"]);
  assert.equal(
    effortSentence({ calls: 1, commands: [], changedCount: 0 }),
    "1 tool call, 0 commands, 0 changed files.",
  );
});

test("a number copied from an old report is a finding", () => {
  assert.deepEqual(findings("All 15 tests pass.", { tests: [{ runner: "jest", passed: 12, failed: 0, skipped: 0 }] }), [
    "tests",
  ]);
});

test("findings cannot steer a terminal", () => {
  const [found] = checkClaims(findClaims("I ran `\u001b[2Jrm`"), facts());
  assert.match(found?.sentence ?? "", /\\u001b\[2Jrm/);
});

test("property: any text is read, and the number of claims has a limit", () => {
  const part = fc.constantFrom(
    "I created `a/b.ts` ",
    "commit 1234567 ",
    "all 9 files ",
    "`",
    "/",
    "a.",
    "\n",
    "12 tests passed ",
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(part, fc.string())), (parts) => {
      checkClaims(findClaims(parts.join("")), facts());
    }),
    { numRuns: 30 },
  );
  const many = Array.from({ length: 1_000 }, (_, index) => `I created a/${index}.ts in commit ${1e9 + index}`).join(
    "\n",
  );
  const { files, commits } = findClaims(many);
  assert.deepEqual([files.length, commits.length], [50, 50]);
});
