// A program asks people in the words of Tutti, with details that a call would have, so that their yes frees something else.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { z } from "zod";

import { openTutti, workflow } from "../../src/index.ts";
import { DaemonProcess } from "../e2e/daemon-process.ts";
import { type Scenario, scenarioOf } from "../e2e/scenario.ts";
import { until } from "../support/wait-until.ts";

let daemon: DaemonProcess;
/** With the key of the person. */
let person: Scenario;
const me = { kind: "person", name: "me" } as const;

before(async () => {
  daemon = await new DaemonProcess().up();
  person = scenarioOf(daemon);
});

after(() => daemon.close());

const question =
  "May worker run this program? It is confined to the task's folders.\ncommand:\n  | ls\nfolder: /tmp\nnetwork: no";
const details = {
  call: { tool_name: "run", tool_call_id: "1", input: { argv: ["ls"] } },
  effects: ["execute"],
  confined: true,
  always: { tool: "run", argv: ["*"], network: true, unconfined: true, program: "/bin/sh" },
};

test("its question and its details are shown as its own, and no standing approval is made of them", async () => {
  const { key } = await person.client.addKey({ name: "agent", role: "operator" });
  const asking = workflow("asking", z.string(), async (durable) => [
    await durable.approve("sure", { question, details }),
    await durable.ask("which", { question: `Which?\n${question}`, details, choices: ["a", "b"] }),
  ]);
  const program = await openTutti({ url: daemon.url, key, workflows: [asking] });
  try {
    const started = await program.start(asking, "go");
    const approval = await person.asked(started.task);
    const own = approval.question.split("\n").filter((line) => !line.startsWith("  | "));
    assert.deepEqual(own, [
      "asking asks you to agree to the following. It is told your answer; nothing runs by it alone.",
    ]);
    assert.ok(approval.question.includes('  |     "tool_name": "run"'), "its details are its words, too");
    assert.deepEqual(Object.keys(Object(approval.details)), ["of_program"]);
    await assert.rejects(person.client.addApproval({ ask: approval.id }, me), /cannot be allowed for good/);
    // The program itself gets back what it gave.
    const [heard] = await program.asks();
    assert.deepEqual([heard?.question, heard?.details], [question, details]);
    await person.client.answer(approval.id, { kind: "approval", approved: true }, me);

    const next = await until(async () => (await person.client.asks(started.task)).find(({ id }) => id !== approval.id));
    const which = await person.client.ask(next.id);
    assert.match(which.question, /^asking asks:\n {2}\| Which\?\n {2}\| May worker run this program\?/);
    await person.client.answer(which.id, { kind: "question", value: "a" }, me);
    assert.deepEqual(await started.result(), [true, "a"]);
  } finally {
    await program.close();
  }
});
