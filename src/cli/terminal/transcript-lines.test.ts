import assert from "node:assert/strict";
import { test } from "node:test";

import { agent, eventsOf, type Happening, helper, created, said } from "../../../test/support/task-events.ts";
import type { TaskEvent } from "../../protocol/task/event.ts";
import { eventText, messageLines } from "./transcript-lines.ts";

const eventOf = (happening: Happening): TaskEvent => eventsOf([happening])[0] ?? assert.fail();
const textOf = (happening: Happening): string => eventText(eventOf(happening));
const linesOf = (happening: Happening): ReturnType<typeof messageLines> => {
  const event = eventOf(happening);
  return event.type === "message.added" ? messageLines(event.data.message) : assert.fail();
};

test("a limit that is reached is shown as one, and an unknown price as such", () => {
  const reached = (data: object): string => textOf({ task: agent, type: "budget.reached", data });
  const money = { limit: "money_micro_usd", allowed: 10_000_000 };
  assert.equal(reached({ ...money, wanted: 10_000_001 }), "the limit of $10.00 is reached");
  for (const wanted of [0, 10_000_000]) {
    assert.equal(reached({ ...money, wanted }), "what this costs is not known, and there is a limit of $10.00");
  }
  assert.equal(reached({ limit: "tokens", allowed: 100, wanted: 120 }), "the limit of 100 tokens is reached");
});

test("of a call that asks, only the name is shown where the question itself follows", () => {
  const data = { tool_call_id: "c", tool_name: "ask", input: { question: "Which?" } };
  const event = eventOf(said(agent, { parts: [{ part_type: "tool_call", data }] }));
  assert.ok(event.type === "message.added");
  const { message } = event.data;
  assert.deepEqual(messageLines(message).calls, [{ head: "→ ask question: Which?", body: [] }]);
  assert.deepEqual(messageLines(message, { namesAsks: true }).calls, [{ head: "→ ask", body: [] }]);
});

test("tool calls and their results are readable; the call of final is left out", () => {
  const call = (tool_name: string, input: unknown): object => ({
    part_type: "tool_call",
    data: { tool_call_id: "c", tool_name, input },
  });
  const parts = [{ part_type: "text", data: "Let me see." }, call("read", { path: "x" }), call("final", 1)];
  assert.deepEqual(linesOf(said(agent, { parts })), {
    text: "Let me see.",
    calls: [{ head: "→ read path: x", body: [] }],
  });
  const result = (part: object): object => ({
    part_type: "tool_result",
    data: { tool_call_id: "c", tool_name: "read", parts: [part] },
  });
  const results = [result({ part_type: "text", data: "one\ntwo" }), result({ part_type: "data", data: { lines: 3 } })];
  const told = linesOf(said(agent, { role: "tool", parts: results }));
  assert.deepEqual(told, {
    text: "",
    calls: [
      { head: "← read", body: ["one", "two"] },
      { head: "← read lines: 3", body: [] },
    ],
  });
});

test("only an agent's own text is shown, not the prompt it was given", () => {
  assert.equal(linesOf(said(agent, { role: "user", text: "Count the lines." })).text, "");
});

test("a task below the agent is announced with its prompt; failed steps and attempts say why", () => {
  assert.equal(textOf(created(agent, "tsk_s_1", { prompt: "Go." })), "", "the agent itself is known");
  assert.equal(textOf(created(helper, agent, { detached: true, prompt: "Count." })), "▸ a (in the background): Count.");
  const error = { code: "io", message: "no disk", retry: "never" };
  const step = { key: "model:1", outcome: "failed", error, tokens: 0, money_micro_usd: 0 };
  assert.equal(textOf({ task: agent, type: "step.finished", data: step }), "the call of the model failed: no disk");
  const ended = { outcome: "failed", reason: "it broke" };
  assert.equal(
    textOf({ task: agent, type: "attempt.ended", data: ended }),
    "↻ attempt ended (failed), trying again: it broke",
  );
});
