// Carries out the calls of one reply: refused ones are told why, calls of agents are spawned together, the rest go in order.

import { z } from "zod";

import { TuttiError } from "../protocol/error.ts";
import { issuesOf, type ReadIssue } from "../protocol/lenient-read.ts";
import { CompleteMessage, completeMessage, messageText, type ToolCall } from "../protocol/message.ts";
import { named, single } from "../protocol/invocation-builders.ts";
import type { Durable } from "../ports.ts";
import { callGroup, type CallGroup, type Turn } from "./call-group.ts";
import { given } from "./given.ts";
import { invoke } from "./invoke.ts";
import type { StepTool } from "./tool.ts";
import { FinalInput, HandoverInput } from "./toolbox.ts";
import { toldFailure, toolFailure, toolMessage } from "./tool-result.ts";

export interface TurnOutcome {
  /** One per call, in their order. */
  readonly results: readonly CompleteMessage[];
  /** Set when the agent has called `final`. */
  readonly final?: { readonly content: unknown };
}

/** A call on its way. `waits`: those after it do not wait for it. `last`: it comes when all others are done. */
interface Work {
  readonly when: "in order" | "waits" | "last";
  readonly run: () => Promise<CompleteMessage>;
  readonly final?: { readonly content: unknown };
}

interface Place {
  readonly call: ToolCall;
  readonly key: string;
}

/** Does not return when the task was handed over. */
export async function runTurn(turn: Turn): Promise<TurnOutcome> {
  const group = callGroup(turn);
  const works = turn.calls.map((call, index) => prepare(turn, { call, key: `tool:${turn.number}.${index}` }, group));
  const final = works.find((work) => work.final !== undefined)?.final;
  const results: CompleteMessage[] = [];
  const started: Promise<unknown>[] = [];
  for (const [index, work] of works.entries()) {
    if (work.when === "last") continue;
    const running = work.run().then((result) => (results[index] = result));
    // Awaited below; until then a failure must not count as unhandled.
    running.catch(() => undefined);
    started.push(running);
    if (work.when === "in order") await running;
  }
  await Promise.all(started);
  for (const [index, work] of works.entries()) if (work.when === "last") results[index] = await work.run();
  return final === undefined ? { results } : { results, final };
}

function prepare(turn: Turn, place: Place, group: CallGroup): Work {
  const { durable, toolbox } = turn;
  const { call, key } = place;
  const refuse = (code: string, message: string): Work => ({
    when: "in order",
    run: async () => durable.say(key, toolFailure(call, code, message)),
  });
  const guarded = (when: Work["when"], body: () => unknown): Work => ({
    when,
    async run() {
      try {
        return durable.say(key, toolMessage(call, await body()));
      } catch (thrown) {
        return tellFailure(turn, place, thrown);
      }
    },
  });
  const found = toolbox.find(call.tool_name);
  switch (found.kind) {
    case "unknown":
      return refuse("not_found", found.message);
    case "refused":
      return refuse("refused", found.message);
    case "final": {
      const input = FinalInput.safeParse(call.input);
      if (!input.success) return refuse("invalid_input", wrong(issuesOf(input.error)));
      return {
        ...guarded("in order", () => "The task ends with this."),
        final: { content: input.data.content ?? null },
      };
    }
    case "handover": {
      const input = HandoverInput.safeParse(call.input);
      if (!input.success) return refuse("invalid_input", wrong(issuesOf(input.error)));
      return guarded("last", () => handOver(turn, key, input.data));
    }
    case "invoke_agent":
      return guarded("waits", () => group.resultOf(call));
    case "external":
      return guarded("waits", () => awaitClient(durable, key, call));
    case "durable": {
      const ready = found.tool.prepare(call.input);
      if (!ready.ok) return refuse("invalid_input", wrong(ready.issues));
      return guarded(found.tool.waits ? "waits" : "in order", () => ready.run({ durable, key }));
    }
    case "step": {
      const ready = found.tool.prepare(call.input);
      if (!ready.ok) return refuse("invalid_input", wrong(ready.issues));
      return { when: "in order", run: () => runStepTool(turn, place, { tool: found.tool, run: ready.run }) };
    }
  }
}

type ReadyStep = {
  readonly tool: StepTool;
  readonly run: Extract<ReturnType<StepTool["prepare"]>, { ok: true }>["run"];
};

/** The step's outcome is the message itself, so that its content stands once. */
async function runStepTool(turn: Turn, place: Place, { tool, run }: ReadyStep): Promise<CompleteMessage> {
  const { durable } = turn;
  const { call, key } = place;
  const id = `${durable.task}.${durable.attempt}.${durable.run}.${key}`;
  try {
    return await durable.step(
      key,
      { repeatable: tool.repeatable, schema: CompleteMessage, input: call, event: "message.added" },
      async (step) => {
        const outcome = await run({ step, rights: durable.rights });
        return completeMessage(toolMessage(call, outcome), { id, now: Date.now() });
      },
    );
  } catch (thrown) {
    return tellFailure(turn, { call, key: `${key}.told` }, thrown);
  }
}

function tellFailure({ durable }: Turn, { call, key }: Place, thrown: unknown): CompleteMessage {
  const told = durable.signal.aborted ? undefined : toldFailure(call, thrown);
  if (told === undefined) throw thrown;
  return durable.say(key, told);
}

/** The client finds the call in the wait and delivers its result to the wait's id. */
async function awaitClient(durable: Durable, key: string, call: ToolCall): Promise<unknown> {
  const waited = await durable.wait(`${key}.result`, {
    label: `the result of the external tool ${call.tool_name}`,
    details: { external_tool: call },
    schema: z.unknown(),
  });
  if ("expired" in waited) throw new TuttiError("expired", `nobody gave a result of ${call.tool_name} in time`);
  return waited.value;
}

async function handOver(turn: Turn, key: string, input: z.infer<typeof HandoverInput>): Promise<never> {
  const { durable, caller, history } = turn;
  const allowed = caller.agent?.definition.handover ?? [];
  if (!allowed.includes(input.agent)) {
    throw new TuttiError("refused", `you may not hand over to ${input.agent}, only to: ${allowed.join(", ")}`);
  }
  const said = history.findLast((message) => message.role === "user");
  const fallback = said === undefined ? "" : messageText(said);
  const prompt = [input.prompt ?? "", fallback, "Continue the task."].find((text) => text.trim() !== "") ?? "";
  const invocation = single(named(input.agent, prompt), { context: "shared" });
  await invoke(durable, `${key}.handover`, invocation, { caller, history, ...given({ reason: input.reason }) });
  throw new TuttiError("internal", "a handover came back");
}

function wrong(issues: readonly ReadIssue[]): string {
  return `the arguments do not fit: ${issues.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`)).join("; ")}`;
}
