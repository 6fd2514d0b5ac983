// Tools that a model is not shown in full from the beginning: it finds them with `tool_search`, and then has them.

import { z } from "zod";

import type { ToolDelivery } from "../../protocol/invocation/tool-policy.ts";
import type { CompleteMessage } from "../../protocol/task/message.ts";
import type { ModelTool } from "../../model-port.ts";
import { loopToolNames, toolSearchName } from "./loop-tools.ts";
import { type StepTool, stepTool } from "./tool.ts";

export interface DeliveredTools {
  /** Shown in full from the beginning. */
  readonly full: readonly ModelTool[];
  /** Shown in full once the model has found them. */
  readonly deferred: readonly ModelTool[];
}

/** The loop's own tools are always shown in full, and do not count. */
export function deliverTools(tools: readonly ModelTool[], delivery: ToolDelivery | undefined): DeliveredTools {
  if (delivery === undefined || delivery.delivery_mode === "full") return { full: tools, deferred: [] };
  const own = tools.filter(({ name }) => !loopToolNames.some((loop) => loop === name));
  if (delivery.delivery_mode === "deferred" && own.length <= delivery.deferred_threshold) {
    return { full: tools, deferred: [] };
  }
  const deferred = new Set(own.filter(({ name }) => !delivery.always_full_schema.includes(name)));
  return { full: tools.filter((tool) => !deferred.has(tool)), deferred: [...deferred] };
}

const ToolSearchInput = z.strictObject({
  query: z.string().min(1).describe("Names of tools, separated by commas, or words that say what the tool is to do."),
  max_results: z.int().min(1).max(20).nullish().describe("5 when absent; names are always all found."),
});
type ToolSearchInput = z.infer<typeof ToolSearchInput>;

/** Its description says which tools can be found: by name and purpose, or with `names_only` by name alone. */
export function toolSearch(deferred: readonly ModelTool[], mode: ToolDelivery["delivery_mode"]): StepTool {
  const listed = deferred.map(({ name, description }) =>
    mode === "names_only" ? name : `${name}: ${firstSentence(description)}`,
  );
  return stepTool({
    name: toolSearchName,
    description:
      "Shows how more tools are called. Search before you call one of them, and call it after that like any other tool. " +
      `There are:\n${listed.join("\n")}`,
    input: ToolSearchInput,
    effects: ["read"],
    repeatable: true,
    run(input) {
      const tools = searchTools(deferred, input);
      return tools.length > 0
        ? { tools }
        : { tools, note: "No tool fits; search for one of the names in the description." };
    },
  });
}

function firstSentence(description: string): string {
  const [line = ""] = description.split("\n");
  const end = line.search(/[.!?](\s|$)/);
  return (end === -1 ? line : line.slice(0, end + 1)).slice(0, 200);
}

const defaultResults = 5;

function searchTools(deferred: readonly ModelTool[], { query, max_results }: ToolSearchInput): ModelTool[] {
  const names = new Set(query.split(",").map((name) => name.trim()));
  const named = deferred.filter(({ name }) => names.has(name));
  if (named.length > 0) return named;
  const words = query.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const scored = deferred.map((tool) => ({ tool, score: scoreOf(tool, words) })).filter(({ score }) => score > 0);
  // Sorting is stable, so equally good tools stay in their order.
  return scored
    .toSorted((a, b) => b.score - a.score)
    .slice(0, max_results ?? defaultResults)
    .map(({ tool }) => tool);
}

/** A word in the name says more than one in the description. */
function scoreOf({ name, description }: ModelTool, words: readonly string[]): number {
  const [inName, inDescription] = [name.toLowerCase(), description.toLowerCase()];
  let score = 0;
  for (const word of words) score += inName.includes(word) ? 3 : inDescription.includes(word) ? 1 : 0;
  return score;
}

/**
 * The tools that the model has found or called in its conversation. They are worked out from the conversation alone, so that a
 * restart shows the model the same tools. What was folded into a summary must be searched for again.
 */
export function foundTools(deferred: readonly ModelTool[], view: readonly CompleteMessage[]): readonly ModelTool[] {
  if (deferred.length === 0) return [];
  const found = new Set<ModelTool>();
  for (const { role, parts } of view) {
    if (role !== "assistant") continue;
    for (const part of parts) {
      if (part.part_type !== "tool_call") continue;
      const { tool_name, input } = part.data;
      const search = tool_name === toolSearchName ? ToolSearchInput.safeParse(input).data : undefined;
      const tools =
        search === undefined ? deferred.filter(({ name }) => name === tool_name) : searchTools(deferred, search);
      for (const tool of tools) found.add(tool);
    }
  }
  return deferred.filter((tool) => found.has(tool));
}
