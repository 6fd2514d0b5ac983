import assert from "node:assert/strict";
import { test } from "node:test";

import type { GoalReport } from "../protocol/task/goal-report.ts";
import { reportLines, reportMarkdown } from "./render-report.ts";

const report: GoalReport = {
  goal: "gol_1",
  task: "tsk_1",
  text: "make it green",
  status: "blocked",
  reason: "criterion c2 is not proven",
  progress: 50,
  rehearsal: true,
  called: false,
  criteria: [
    {
      id: "c1",
      text: "npm test passes",
      from: "person",
      confirmed: true,
      state: "met",
      reason: "the check passed",
      proof: [{ id: "evd_1", kind: "check", verdict: "supports", text: "check `npm test` passed", excerpt: "12 ok" }],
    },
    { id: "c2", text: "it is fast", from: "model", confirmed: false, state: "open", reason: "no check", proof: [] },
  ],
  tasks: [
    {
      id: "fix",
      round: 1,
      prompt: "Fix it.\n```\n# not a heading",
      task: "tsk_2",
      state: "verified",
      reason: "all checks passed",
      replaced_by: null,
      route: { runner: "local", model: "rehearsal/script", chosen_by: "policy", reason: "matched build" },
      attempts: 2,
      tokens: 120,
      money_micro_usd: 2_500_000,
      branch: "tutti/fix",
      commit: "c0ffee",
      commits: 1,
      proof: [{ id: "evd_1", kind: "check", verdict: "supports", text: "check passed", excerpt: "12 ok" }],
    },
  ],
  not_proven: ["criterion c2 is not proven: it is fast"],
  dropped: [{ what: "tasks[1]", reason: "prompt is blank" }],
  notes: ["Ada: also mind the docs"],
  integration: { branch: "tutti/integration", commit: "c0ffee", tree: null },
  rounds: 1,
  tokens: 150,
  money_micro_usd: 2_500_000,
  unpriced: false,
  created_at: 1,
  updated_at: 2,
};

test("the report has every criterion with its proof, what is not proven, and each task with its route and cost", () => {
  const text = reportMarkdown(report);
  for (const part of [
    /^# Waits for a person: make it green$/m,
    /rehearsal/,
    /\*\*met\*\* npm test passes\n {2}- the check passed\n {2}- proof: check/,
    /\*\*not proven\*\* it is fast \(proposed by the model, unconfirmed\)/,
    /## What is not proven\n\n- criterion c2 is not proven/,
    /### fix: verified/,
    /Route: local:rehearsal\/script, chosen by the policy/,
    /2 attempts, 120 tokens, \$2\.50/,
    /Branch `tutti\/fix`, 1 commit/,
    /prompt is blank/,
  ])
    assert.match(text, part);
  const lines = reportLines(report).join("\n");
  assert.match(lines, /met: npm test passes\n {4}proof: check/);
  assert.match(lines, /not proven\n {2}criterion c2/);
});

test("texts of others form no Markdown of their own, no escape reaches a terminal, and secrets are replaced", () => {
  const nasty = "# Done\n[x](http://evil) <script> \u001b[31mred\u001b[0m \u202e sk-secret";
  const redact = (text: string): string => text.replaceAll("sk-secret", "[secret]");
  const [task] = report.tasks;
  assert.ok(task !== undefined);
  const bad: GoalReport = {
    ...report,
    text: nasty,
    notes: [nasty],
    tasks: [{ ...task, prompt: `${nasty}\n\`\`\`\n# out`, reason: nasty }],
  };
  const markdown = reportMarkdown(bad, { redact });
  const lines = reportLines(bad, { redact }).join("\n");
  for (const text of [markdown, lines]) {
    assert.doesNotMatch(text, /sk-secret/);
    // oxlint-disable-next-line no-control-regex -- control characters are what this is about
    assert.doesNotMatch(text, /[\u0000-\u0008\u000b-\u001f\u202e]/);
  }
  // Two of them stand inside of a code block.
  assert.equal(markdown.split("\n").filter((line) => line.startsWith("# ")).length, 3);
  assert.match(markdown, /^````text\n# Done/m);
  assert.doesNotMatch(markdown, /[^\\]<script>.*\n- Goal/);
});

test("where no call has a price, no sum is told, and where some have one, the sum says that it is not all", () => {
  const [task] = report.tasks;
  assert.ok(task !== undefined);
  const free: GoalReport = { ...report, unpriced: true, money_micro_usd: 0, tasks: [{ ...task, money_micro_usd: 0 }] };
  for (const text of [reportMarkdown(free), reportLines(free).join("\n")]) {
    assert.doesNotMatch(text, /\$/);
    assert.match(text, /150 tokens, price unknown/);
    assert.match(text, /2 attempts, 120 tokens$/m);
  }
  assert.match(reportMarkdown({ ...report, unpriced: true }), /150 tokens, \$2\.50 and calls whose price is unknown/);
});
