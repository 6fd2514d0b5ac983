// An agent, or whoever wrote its definition, gives a pattern that takes for ever to match where patterns backtrack.
import assert from "node:assert/strict";
import { test } from "node:test";

import { type DaemonProcess, daemonFor } from "../e2e/daemon-process.ts";
import { scenarioOf } from "../e2e/scenario.ts";

const backtracking = "^(a+)+$";
const long = `${"a".repeat(60_000)}!`;

function invocation(agent: object, rules: readonly object[], text = "Go."): string {
  const message = { role: "user", parts: [{ part_type: "text", data: text }] };
  return JSON.stringify({
    invocation: { targets: [{ agent: { type: "named", agent_id: "hostile" }, message }] },
    agents: { hostile: { instructions: "You reply.", max_turns: 3, ...agent } },
    script: { rules },
  });
}

/** Answers within a time that no blocked event loop would keep. */
async function responsive(daemon: DaemonProcess): Promise<void> {
  const { ok } = await fetch(`${daemon.url}/healthz`, { signal: AbortSignal.timeout(240_000) });
  assert.ok(ok);
}

test("a pattern of an output schema that backtracks does not hold the daemon up, nor the next one after a kill", async (t) => {
  const daemon = await daemonFor(t);
  const scenario = scenarioOf(daemon);
  const schema = { output_schema: { type: "string", pattern: backtracking } };
  const first = await scenario.start(
    invocation(schema, [
      { turn: 0, final: long },
      { delay_ms: 2_000, final: "aaa" },
    ]),
  );
  await responsive(daemon);
  await daemon.restartKilled();
  await responsive(daemon);
  assert.equal(await scenario.outcome(first), "completed: aaa");
  const nested = {
    type: "object",
    patternProperties: { [backtracking]: { anyOf: [{ pattern: backtracking }, { pattern: "(x+x+)+y" }] } },
    propertyNames: { pattern: backtracking },
  };
  const second = await scenario.start(invocation({ output_schema: nested }, [{ final: { [long]: long, aaa: long } }]));
  assert.match(await scenario.outcome(second), /^failed/);
  await responsive(daemon);
});

test("a pattern of a rehearsal script that backtracks does not hold the daemon up", async (t) => {
  const daemon = await daemonFor(t);
  const scenario = scenarioOf(daemon);
  const rules = [{ last: { regex: backtracking }, final: "all a" }, { final: "not only a" }];
  assert.equal(await scenario.outcome(await scenario.start(invocation({}, rules, long))), "completed: not only a");
  await responsive(daemon);
});

test("a schema whose alternatives double with each level does not hold the daemon up", async (t) => {
  const daemon = await daemonFor(t);
  const scenario = scenarioOf(daemon);
  const $defs = Object.fromEntries(
    Array.from({ length: 40 }, (_, at) => [
      `d${at}`,
      { anyOf: [{ $ref: `#/$defs/d${at + 1}` }, { $ref: `#/$defs/d${at + 1}` }] },
    ]),
  );
  const output_schema = { $ref: "#/$defs/d0", $defs: { ...$defs, d40: { type: "string" } } };
  assert.match(await scenario.outcome(await scenario.start(invocation({ output_schema }, [{ final: 1 }]))), /^failed/);
  await responsive(daemon);
});

test("a pattern that cannot be matched in linear time is refused by name", async (t) => {
  const daemon = await daemonFor(t);
  const scenario = scenarioOf(daemon);
  const schema = { output_schema: { type: "string", pattern: "^(a)\\1$" } };
  assert.match(
    await scenario.outcome(await scenario.start(invocation(schema, [{ final: "aa" }]))),
    /backreferences are not supported/,
  );
});
