// An inherited conversation and parts that are not text reach every runner, with ids of the task's own.
import assert from "node:assert/strict";
import { test } from "node:test";

import { z } from "zod";

import { world } from "../../../test/support/agent-kit.ts";
import { named, single } from "../../protocol/invocation/invocation-builders.ts";
import { CompleteMessage, messageText, userMessage } from "../../protocol/task/message.ts";
import { CommandResult } from "../../runner/command/command-result.ts";
import { commandRunner } from "../../runner/command/runner.ts";
import { handedMessages } from "./handed-messages.ts";

const said = CompleteMessage.parse({ ...userMessage("before"), id: "m1", created_at: 1 });
const picture = { part_type: "image", data: { mime_type: "image/png", data: "aGk=" } };
const withPicture = {
  ...userMessage("look"),
  parts: [...userMessage("look").parts, { part_type: "data" as const, data: picture }],
};

test("a task gets the conversation as its own copy, and after it a prompt that is not only text", () => {
  const shared = { history: [said] };
  const task = "tsk_s_2";
  const handed = (context: "inherited" | "independent", message = userMessage("go")) =>
    handedMessages({ task, input: { context, message }, shared, now: 5 });
  assert.deepEqual(handed("independent"), []);
  assert.deepEqual(handed("inherited"), [{ ...said, id: "tsk_s_2.inherited.0" }]);
  const both = handed("inherited", withPicture);
  assert.deepEqual(
    both.map(({ id, created_at }) => [id, created_at]),
    [
      ["tsk_s_2.inherited.0", 1],
      ["tsk_s_2.prompt", 5],
    ],
  );
  assert.deepEqual(both[1]?.parts, withPicture.parts);
});

const Told = z.object({ prompt: z.string(), messages: z.array(CompleteMessage) });

test("a program reads the text of its message, and all messages as JSON when the text leaves something out", async (t) => {
  const w = await world(t, {
    environment: { runners: [{ kind: "command", runtime: "command" }] },
    runners: { command: commandRunner() },
  });
  const program = (more: object) => ({
    instructions: "x",
    runner: { kind: "command", config: { argv: ["cat"] } },
    ...more,
  });
  const agents = {
    lead: { instructions: "You lead." },
    heir: program({ context: "inherited" }),
    other: program({}),
  };
  const output = async (agent: string): Promise<string> => {
    const rules = [
      { agent: "lead", turn: 0, delegate: [{ agent, prompt: "count" }] },
      { agent: "lead", final: "done" },
    ];
    const root = await w.start({
      invocation: single(named("lead", "the secret word is plum")),
      agents,
      roots: [w.folder],
      script: { rules },
    });
    assert.equal((await w.engine.result(root)).status, "completed");
    const child = w.tree(root).find((task) => task.agent === agent);
    return CommandResult.parse((await w.engine.result(child?.id ?? "")).content).stdout;
  };
  assert.equal(await output("other"), "count");
  const told = Told.parse(JSON.parse(await output("heir")));
  assert.equal(told.prompt, "count");
  assert.deepEqual(told.messages.map(messageText), ["the secret word is plum"]);
  assert.match(told.messages[0]?.id ?? "", /^tsk_\w+\.inherited\.0$/);
});
