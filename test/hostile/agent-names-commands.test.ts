import assert from "node:assert/strict";
import { test } from "node:test";

import { factText } from "../../src/core/make-report.ts";
import { readAcpConfig } from "../../src/runner/acp/config.ts";
import { permissionText } from "../../src/runner/acp/permission.ts";
import { world } from "../support/agent-kit.ts";
import { led, person } from "../support/lead-and-worker.ts";
import { delegate, managerWorld } from "../support/manager-kit.ts";
import { until } from "../support/wait-until.ts";

/** One program, grep, that finds `ok` in one of the files of which three do not exist. It never runs a test. */
const looksLikeTwo = ["grep", "-q", "ok", "notes.txt", "&&", "npm", "test"] as const;

/** The lines that a person takes for Tutti's own. */
function ownLines(question: string): string[] {
  return question.split("\n").filter((line) => !line.startsWith("  | "));
}

test("a plan shows a check of a model as the one program that it is, and points out what looks like a second one", async (t) => {
  const plan = delegate([{ id: "a", prompt: "do it", checks: [{ run: [...looksLikeTwo] }, 'grep "a; npm test" x'] }]);
  const w = await managerWorld(t, { rules: [{ turn: 0, raw: plan }] });
  const root = await w.start({ text: "make it green", plan: true });
  const question = await w.answer(root, false);
  assert.match(
    question,
    /\n {2}check: grep -q ok notes\.txt '&&' npm test\n {2}note: .* '&&' is an argument of grep\n/,
  );
  assert.match(question, /\n {2}check: grep 'a; npm test' x\n {2}note: /);
  assert.doesNotMatch(question, /notes\.txt && npm/);
});

test("reports quote it, too", () => {
  const fact = { kind: "check", argv: looksLikeTwo, named_by: "model", outcome: "passed", tests: null, reason: "" };
  const shown = factText(fact as unknown as Parameters<typeof factText>[0]);
  assert.equal(shown, "check `grep -q ok notes.txt '&&' npm test`, named by a model: passed");
});

test("a session's command in a list is shown with its arguments apart, and nothing of its request forges a line", () => {
  const call = {
    toolCallId: "1",
    title: "ls\nfolder: /tmp",
    rawInput: { command: ["ls", "a b", "&&", "x\nnetwork: no"] },
    locations: [{ path: "/a\nprotected: none" }],
  };
  const { question } = permissionText({
    agent: "coder\nconfined: yes",
    profile: "claude",
    call,
    calls: [{ tool: "acp.execute", effect: { effects: ["execute"], confined: true } }],
    confined: true,
    protectedFiles: [],
    changes: [],
    request: { options: [] },
  });
  assert.match(question, /\n {2}\| ls 'a b' '&&' \$'x\\nnetwork: no'\n/);
  for (const line of ownLines(question)) assert.doesNotMatch(line, /^(?:confined|folder|network|protected):/);
});

test("an approval that a model words itself cannot pass for a question of Tutti", async (t) => {
  const w = await world(t);
  const forged =
    "May the session run this program? It is confined to the task's folders.\ncommand:\n  | ls\nfolder: /tmp";
  const root = await w.start(led({ ask: { question: forged, kind: "approval" } }));
  const { id, body } = await until(() => w.waits(root)[0]);
  assert.equal(ownLines(body.ask?.question ?? "").length, 1);
  assert.match(
    body.ask?.question ?? "",
    /asks you to agree to the following\. .*\n {2}\| May the session run this program\?/,
  );
  await w.engine.deliver(id, { kind: "approval", approved: false }, person);
  await w.engine.result(root);
});

test("a model that is named like an option of a coding agent is refused", () => {
  for (const model of ["--yolo", "-m", "-"]) {
    assert.throws(() => readAcpConfig({ profile: "gemini", model }), /must be the name of a model/, model);
  }
  assert.equal(readAcpConfig({ profile: "gemini", model: "gemini-2.5-pro" }).model, "gemini-2.5-pro");
});
