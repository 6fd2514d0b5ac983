import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { z } from "zod";

import { skipUnconfined as skip } from "../../../test/support/assignment-kit.ts";
import { testRepository } from "../../../test/support/git-kit.ts";
import { killChild } from "../../../test/support/kill-process.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { within } from "../../../test/support/wait-until.ts";
import { AssignmentResult } from "../../protocol/task/assignment.ts";

const program = new URL("../../../test/support/assignment-process.ts", import.meta.url).pathname;
const Outcome = z.object({ result: AssignmentResult, moved: z.array(z.string()), evidence: z.int() });

const points = [{ id: "task", met: true, why: "it is 4", where: "total.txt" }];
const rules = [
  { agent: "coder", turn: 0, call: [{ tool: "write", args: { path: "total.txt", content: "4\n" } }] },
  { agent: "coder", turn: 1, final: "done" },
  { agent: "_reviewer", turn: 0, call: [{ tool: "read", args: { path: "total.txt" } }] },
  { agent: "_reviewer", turn: 1, final: { review: { task: "fix", conf: 0.9, gate: "approve", points } } },
];

async function appears(file: string): Promise<void> {
  while (!existsSync(file)) await sleep(10);
}

async function outcomeOf(child: ChildProcess): Promise<z.infer<typeof Outcome>> {
  let text = "";
  for await (const chunk of child.stdout ?? []) text += String(chunk);
  return Outcome.parse(JSON.parse(text));
}

describe("a delegated task and the end of its process", { skip }, () => {
  for (const [point, where] of [
    ["verify", "after the work"],
    ["checkout", "after the verification"],
    ["review", "in the review"],
  ] as const) {
    test(`invariants 1 and 3: killed ${where}, nothing that was done is done again, and the result is the same`, async (t) => {
      const { folder, git } = testRepository(t, { "total.txt": "3\n", "check.sh": 'test "$(cat total.txt)" = 4\n' });
      const root = tempFolder(t);
      const delegated = { folder, rules, planned: { checks: [{ run: ["/bin/sh", "check.sh"] }] } };
      const start = (): ChildProcess => {
        const child = spawn(process.execPath, [program, JSON.stringify({ root, point, delegated })], {
          stdio: ["ignore", "pipe", "inherit"],
        });
        t.after(() => killChild(child));
        return child;
      };
      const first = start();
      await within(() => appears(join(root, `reached-${point}`)), `the process stops ${where}`);
      await killChild(first);
      const { result, moved, evidence } = await outcomeOf(start());
      assert.equal(result.state, "verified", result.reason);
      assert.equal(git("show", `${result.branch}:total.txt`), "4");
      assert.deepEqual(moved, ["working", "verifying", "reviewing", "done"]);
      assert.equal(evidence, result.evidence.length);
      assert.deepEqual(readFileSync(join(root, "ledger"), "utf8").trimEnd().split("\n"), [
        "coder 1",
        "coder 3",
        "verify 1",
        "_reviewer 1",
        "_reviewer 3",
      ]);
    });
  }
});
