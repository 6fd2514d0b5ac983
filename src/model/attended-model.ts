// Models that the processes of a program call: what is known of them is in the invocation, and each call is made by a process that attends the run.

import type { Model, ModelFacts, ModelRequest } from "../model-port.ts";
import type { Attendants } from "../ports.ts";
import { AttendedModelReply, AttendedModelRequest } from "../protocol/api/attend-shapes.ts";
import { TuttiError } from "../protocol/error.ts";
import type { AttendedModel } from "../protocol/invocation/attended.ts";
import type { Usage } from "../protocol/task/budget.ts";
import { estimateInput } from "./estimate.ts";
import { costOf } from "./prices.ts";

/** The longest that a process may take for one reply, however often it says that it is still there. */
const withinMs = 60 * 60_000;

/** `own` go before those of `others`. */
export function withAttendedModels(
  others: Model,
  own: Readonly<Record<string, AttendedModel>>,
  attendants: Attendants,
): Model {
  const find = (name: string): AttendedModel | undefined => (Object.hasOwn(own, name) ? own[name] : undefined);
  return {
    estimate(request) {
      const found = find(request.model);
      return found === undefined ? others.estimate(request) : estimate(found, request);
    },
    async call(request, options) {
      if (find(request.model) === undefined) return others.call(request, options);
      const { step } = options;
      if (step === undefined) {
        throw new TuttiError(
          "refused",
          `${request.model} is called by a process of a program, which only its agents use`,
        );
      }
      const made = await attendants.call(
        {
          tree: step.tree,
          wanted: { kind: "model", name: request.model },
          order: (call) => ({ kind: "model", call, name: request.model, request: plainRequest(request) }),
          withinMs,
          live(channel, text) {
            if (channel === "text") options.onText?.(text);
            else if (channel === "reasoning") options.onReasoning?.(text);
            else if (channel === "tool") options.onTool?.(text);
            else if (channel === "notice") options.onNotice?.(text);
          },
          onAgain: (again) => options.onRetry?.(again),
        },
        step,
      );
      const read = AttendedModelReply.safeParse(made);
      if (read.success) return read.data;
      throw new TuttiError(
        "invalid_input",
        `the process of the program sent a reply of ${request.model} that cannot be read`,
      );
    },
    facts(name) {
      const found = find(name);
      return found === undefined ? (others.facts?.(name) ?? unknownFacts) : factsOf(found);
    },
  };
}

const unknownFacts: ModelFacts = { format: "native", contextTokens: null, maxOutputTokens: 16_384 };

function factsOf(model: AttendedModel): ModelFacts {
  return {
    format: model.format,
    formatMayChange: model.format_may_change,
    profile: model.profile,
    contextTokens: model.context_tokens,
    maxOutputTokens: model.max_output_tokens,
    mostOutputTokens: model.most_output_tokens,
  };
}

/** As for every model that a program made itself, a price that is not known counts as none. */
function estimate({ price, most_output_tokens }: AttendedModel, request: ModelRequest): Usage {
  const input = estimateInput(request);
  const output = request.maxOutputTokens ?? most_output_tokens;
  const tokens = { input, output, cacheRead: 0, cacheWritten: 0 };
  const costs = [costOf(price, tokens), costOf(price, { ...tokens, cacheWritten: input, forAnHour: true })];
  return {
    input_tokens: input,
    output_tokens: output,
    money_micro_usd: Math.max(0, ...costs.filter((cost) => cost !== null)),
  };
}

function plainRequest(request: ModelRequest): AttendedModelRequest {
  return AttendedModelRequest.parse({ ...request, tools: request.tools.map((tool) => ({ ...tool })) });
}
