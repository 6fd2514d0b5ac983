// The results of an invocation, one line for each target, and whether all of them are good.
import type { FoldedTree } from "../../core/fold-tree.ts";
import { type AgentResult, InvocationResult } from "../../protocol/invocation/invocation-result.ts";
import { dim } from "./style.ts";
import { markOf } from "./task-tree.ts";
import { resultText } from "./value-text.ts";

export function resultLines(tree: FoldedTree, result: AgentResult): string[] {
  const { data } = InvocationResult.safeParse(result.content);
  if (data === undefined) return [`${markOf(result.status)} ${resultText(result.content)}`];
  if (data.kind === "scalar") return [resultLine(data.result)];
  if (data.kind === "vector") return data.results.map(resultLine);
  return data.task_ids.flatMap((id) => {
    const view = tree.tasks.get(id);
    return view === undefined
      ? []
      : [resultLine({ task_id: id, status: view.status, content: view.result ?? view.status })];
  });
}

function resultLine({ status, task_id, content }: AgentResult): string {
  return `${markOf(status)} ${dim(task_id)} ${resultText(content)}`;
}

/** True when the invocation completed and every task it waited for did. */
export function succeeded(result: AgentResult): boolean {
  if (result.status !== "completed") return false;
  const { data } = InvocationResult.safeParse(result.content);
  if (data === undefined || data.kind === "task_ids") return true;
  const results = data.kind === "scalar" ? [data.result] : data.results;
  return results.every(({ status }) => status === "completed");
}

/** Of an invocation with one target, that of the target; undefined when there are several. */
export function onlyResult(result: AgentResult): AgentResult | undefined {
  const { data } = InvocationResult.safeParse(result.content);
  if (data === undefined) return result;
  return data.kind === "scalar" ? data.result : undefined;
}
