// A rehearsal model that records every request, so that a test can look at what the model was sent.

import { rehearsalModel } from "../../src/model/rehearsal/rehearsal-model.ts";
import type { InvocationFile } from "../../src/protocol/invocation/invocation-file.ts";
import { named, single } from "../../src/protocol/invocation/invocation-builders.ts";
import type { CompleteMessage, Part } from "../../src/protocol/task/message.ts";
import type { Model, ModelReply } from "../../src/model-port.ts";

export interface Sent {
  readonly agent: string;
  readonly system: string;
  readonly tools: readonly string[];
  readonly messages: readonly CompleteMessage[];
}

/** `facts` and the calls themselves may be replaced; `sent` grows with every call. */
export function recorded(more: Partial<Model> = {}): {
  readonly sent: Sent[];
  readonly model: (file: InvocationFile) => Model;
} {
  const sent: Sent[] = [];
  return {
    sent,
    model(file) {
      const model = rehearsalModel(file.script ?? { rules: [] });
      return {
        estimate: (request) => model.estimate(request),
        call(request, options) {
          const { agent, system, tools, messages } = request;
          sent.push({ agent, system, tools: tools.map((tool) => tool.name), messages: [...messages] });
          return more.call === undefined ? model.call(request, options) : more.call(request, options);
        },
        ...(more.facts === undefined ? {} : { facts: more.facts }),
      };
    },
  };
}

/** One agent `a` that is told `go` and plays the rules. */
export function solo(rules: readonly object[], definition: object = {}) {
  return {
    invocation: single(named("a", "go")),
    agents: { a: { instructions: "Be brief.", ...definition } },
    script: { rules },
  };
}

/** All that the model saw of the conversation, as text. */
export function textOf(messages: readonly CompleteMessage[]): string {
  const part = (each: Part): string =>
    each.part_type === "text"
      ? each.data
      : each.part_type === "tool_result"
        ? each.data.parts.map(part).join("\n")
        : JSON.stringify(each.data);
  return messages.map(({ role, parts }) => `${role}: ${parts.map(part).join("\n")}`).join("\n");
}

const usage = { input_tokens: 1, output_tokens: 1, money_micro_usd: 0 };

/** A model that gives these replies in turn, then the text `done`. */
export function replying(...replies: readonly Partial<ModelReply>[]): Partial<Model> {
  let calls = 0;
  return {
    async call() {
      const reply = replies[calls];
      calls += 1;
      const message = { name: null, role: "assistant" as const, parts: [{ part_type: "text" as const, data: "done" }] };
      return { message, usage, finish: "stop", ...reply };
    },
  };
}

export function callOf(tool_name: string, input: unknown, tool_call_id = "c1"): Part {
  return { part_type: "tool_call", data: { tool_call_id, tool_name, input } };
}

export function saying(...parts: readonly Part[]): Partial<ModelReply> {
  return { message: { name: null, role: "assistant", parts: [...parts] } };
}
