// An event as one line of text, for logs and progress.
import { waitingText } from "../../core/model-waiting.ts";
import { z } from "zod";

import type { TaskEvent } from "../../protocol/task/event.ts";
import { startedCheckText } from "../../protocol/task/started-check.ts";
import { InvocationResult } from "../../protocol/invocation/invocation-result.ts";
import { messageText } from "../../protocol/task/message.ts";
import { driftText } from "./drift-text.ts";
import type { OutputLine } from "./output-lines.ts";
import { bold, dim } from "./style.ts";
import { printable } from "./printable.ts";
import { counted, money } from "./units.ts";
import { savedText } from "./saved-text.ts";
import { resultText, valueText } from "./value-text.ts";
import { chosenText, routeName } from "../../core/route-name.ts";

/** Longer text is cut; `--json` has all of it. */
const maxLength = 160;
const typeWidth = "task.input_required".length;

export function eventLine(event: TaskEvent): string {
  const time = new Date(event.at).toISOString().slice(11, 23);
  const type = `${bold(event.type)}${" ".repeat(Math.max(0, typeWidth - event.type.length))}`;
  return `${dim(time)} ${dim(event.task)} ${type} ${short(describe(event))}`.trimEnd();
}

/** What a program printed while it runs. It is not recorded, so it has no time of its own. */
export function outputLine({ task, text }: OutputLine): string {
  const time = new Date().toISOString().slice(11, 23);
  return `${dim(time)} ${dim(task)} ${dim("output".padEnd(typeWidth))} │ ${printable(text)}`;
}

function describe(event: TaskEvent): string {
  switch (event.type) {
    case "task.created":
      return `${event.data.agent} (${event.data.runner})${event.data.prompt === undefined ? "" : `: ${event.data.prompt}`}`;
    case "task.completed":
      return endText(event.data.content);
    case "task.failed":
      return event.data.error.message;
    case "task.canceled":
      return event.data.reason;
    case "message.added": {
      const { message } = event.data;
      const calls = message.parts.flatMap((part) =>
        part.part_type === "tool_call" ? [`${part.data.tool_name} ${valueText(part.data.input)}`] : [],
      );
      const results = message.parts.flatMap((part) =>
        part.part_type === "tool_result"
          ? [
              `${part.data.tool_name} → ${messageText(part.data) || valueText(part.data.parts.map((each) => each.data))}`,
            ]
          : [],
      );
      const who = message.name === "rehearsal" ? `${message.role} (rehearsal)` : message.role;
      return `${who}: ${[messageText(message), ...calls, ...results].filter((text) => text !== "").join(" | ")}`;
    }
    case "step.finished":
      return `${event.data.key} ${event.data.outcome}${event.data.error === undefined ? "" : `: ${event.data.error.message}`}`;
    case "task.handed_over":
      return `${event.data.from_agent} → ${event.data.to_agent}${event.data.reason === undefined ? "" : `: ${event.data.reason}`}`;
    case "run.started":
      return `${event.data.agent}, attempt ${event.attempt ?? 1}, run ${event.run ?? 1}`;
    case "attempt.ended":
      return `attempt ${event.attempt ?? 1} ${event.data.outcome}: ${event.data.reason}`;
    case "task.input_required":
      return event.data.ask;
    case "call.allowed":
      return `${event.data.tool} by ${event.data.rule}: ${event.data.text}`;
    case "model.changed":
      return `${event.data.from} → ${event.data.to} (${event.data.format}): ${event.data.reason}`;
    case "call.drifted":
      return driftText(event.data);
    case "model.waiting":
      return waitingText(event.data, event.at);
    case "ask.raised":
      return `${event.data.ask.id} ${event.data.ask.kind}${decidingRule(event.data.ask.details)}: ${event.data.ask.question}`;
    case "ask.answered":
      return `${event.data.ask} by ${event.data.by.name}: ${valueText(answerValue(event.data.answer))}`;
    case "ask.expired":
      return `${event.data.ask}: ${event.data.meaning.replace("_", " ")}`;
    case "ask.withdrawn":
      return event.data.ask;
    case "ask.reopened":
      return `${event.data.ask}: ${event.data.reason}`;
    case "wait.opened":
      return `${event.data.wait} ${event.data.label}`;
    case "wait.settled":
      return `${event.data.wait} ${event.data.outcome}`;
    case "wait.reopened":
      return `${event.data.wait}: ${event.data.reason}`;
    case "session.started": {
      const { profile, model, mode, confined, resumed, folder } = event.data;
      const notes = [
        ...(model === null ? [] : [model]),
        ...(mode === null ? [] : [`mode ${mode}`]),
        confined ? "confined" : "not confined",
        ...(resumed ? ["goes on"] : []),
      ];
      return `${profile} in ${folder} (${notes.join(", ")})`;
    }
    case "session.prompted":
      return `prompt ${event.data.prompt}`;
    case "session.answered":
      return `prompt ${event.data.prompt}: ${event.data.reason}`;
    case "session.updated":
      return `${event.data.kind} ${valueText(event.data.update)}`;
    case "session.stalled":
      return `silent for ${Math.round(event.data.silent_ms / 1_000)} seconds`;
    case "session.ended":
      return event.data.reason;
    case "session.saved":
      return savedText(event.data);
    case "goal.created":
      return event.data.goal.text;
    case "goal.criteria_added":
      return event.data.criteria.map(({ text }) => text).join("; ");
    case "goal.criteria_confirmed":
      return `${event.data.ids.join(", ")} by ${event.data.by.name}`;
    case "goal.planned":
      return `round ${event.data.round}: ${event.data.tasks.map(({ id }) => id).join(", ")}`;
    case "goal.linked":
      return `${event.data.planned} is ${event.data.task}`;
    case "goal.link_changed":
      return `${event.data.task} ${event.data.state}: ${event.data.reason}`;
    case "goal.criterion_judged":
      return `${event.data.id} ${event.data.state}: ${event.data.reason}`;
    case "goal.integrated":
      return `${event.data.branch ?? "no branch"} at ${event.data.commit}`;
    case "goal.noted":
      return event.data.text;
    case "goal.changed":
      return `${event.data.status}: ${event.data.reason}`;
    case "route.decided":
      return `${routeName(event.data)}, ${chosenText(event.data)}`;
    case "handoff.moved":
      return `${event.data.from} → ${event.data.to}: ${event.data.reason}`;
    case "check.started":
      return startedCheckText(event.data);
    case "evidence.added": {
      const { fact, verdict, excerpt } = event.data.evidence;
      return `${fact.kind} ${verdict}${excerpt === "" ? "" : `: ${excerpt}`}`;
    }
    case "budget.reached":
      return `${event.data.limit}: ${event.data.wanted} wanted, ${event.data.allowed} allowed`;
    case "budget.settled":
      return `${event.data.key}${event.data.presumed === true ? ", presumed sent" : ""}: ${event.data.spent.input_tokens + event.data.spent.output_tokens} tokens, ${money(event.data.spent.money_micro_usd ?? 0)}`;
    default:
      return Object.keys(event.data).length === 0 ? "" : valueText(event.data);
  }
}

const Ruled = z.object({
  rule: z.object({ from: z.string(), effect: z.string().optional(), tool: z.string().optional() }),
});

/** Which rule made an approval necessary, such as ` (project: execute)`; empty when no rule did. */
function decidingRule(details: unknown): string {
  const { data } = Ruled.safeParse(details);
  return data === undefined ? "" : ` (${data.rule.from}: ${data.rule.effect ?? data.rule.tool ?? ""})`;
}

/** The results of several tasks stand in the lines of those tasks, so an invocation only says how many there are. */
function endText(content: unknown): string {
  const { data } = InvocationResult.safeParse(content);
  if (data === undefined) return valueText(content);
  if (data.kind === "scalar") return resultText(data.result.content);
  if (data.kind === "task_ids") return `started ${counted(data.task_ids.length, "task")}, not waited for`;
  const failed = data.results.filter((result) => result.status !== "completed").length;
  return `${counted(data.results.length, "result")}${failed === 0 ? "" : `, ${failed} of them not completed`}`;
}

function answerValue(answer: Extract<TaskEvent, { type: "ask.answered" }>["data"]["answer"]): unknown {
  if (answer.kind === "question") return answer.value;
  if (answer.kind === "budget") return answer.go_on ? "go on" : "stop";
  return answer.approved ? "yes" : `no${answer.reason === undefined ? "" : `, ${answer.reason}`}`;
}

function short(text: string): string {
  const line = printable(text).replaceAll(/\s+/g, " ");
  return line.length > maxLength ? `${line.slice(0, maxLength)}…` : line;
}
