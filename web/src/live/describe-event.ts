// Says in a few words what an event means, for the entries of a transcript and for lists of what happened.

import type { TaskEvent } from "../../../src/client/index.ts";
import { argvLine, startedCheckText } from "../../../src/protocol/index.ts";
import { count, duration, money } from "../format/show-time.ts";

export interface ToldEvent {
  readonly tone: "info" | "good" | "bad" | "warn";
  readonly title: string;
  readonly text: string;
}

function told(tone: ToldEvent["tone"], title: string, text = ""): ToldEvent {
  return { tone, title, text };
}

/** Undefined for what a reader of the transcript needs not see: steps that went well, and what the next entry repeats. */
export function describeEvent(event: TaskEvent): ToldEvent | undefined {
  switch (event.type) {
    case "task.created":
      return event.data.prompt === undefined ? undefined : told("info", "Task", event.data.prompt);
    case "task.started":
    case "task.input_required":
    case "task.resumed":
    case "session.prompted":
    case "session.answered":
    case "message.added":
    case "goal.linked":
    case "wait.opened":
    case "wait.settled":
    case "run.started":
      return undefined;
    case "task.completed":
      return told("good", "Completed", endText(event.data.content));
    case "task.failed":
      return told("bad", "Failed", event.data.error.message);
    case "task.canceled":
      return told("warn", "Canceled", event.data.reason);
    case "task.handed_over":
      return told("info", `Handed over to ${event.data.to_agent}`, event.data.reason ?? "");
    case "attempt.ended":
      return told("warn", `Attempt ${event.attempt ?? 1} ${event.data.outcome}`, event.data.reason);
    case "step.finished":
      if (event.data.outcome === "ok") return undefined;
      return told("bad", `Step ${event.data.key} ${event.data.outcome}`, event.data.error?.message ?? "");
    case "check.started":
      return told("info", "Check", startedCheckText(event.data));
    case "evidence.added":
      return evidenceTold(event.data.evidence);
    case "session.started":
      return told("info", `Session of ${event.data.profile}`, event.data.folder);
    case "session.updated":
      return told("info", event.data.kind.replaceAll("_", " "), JSON.stringify(event.data.update, null, 2) ?? "");
    case "session.stalled":
      return told("warn", "Silent", `Nothing was heard of the session for ${duration(event.data.silent_ms)}.`);
    case "session.ended":
      return told("info", "The session ended", event.data.reason);
    case "session.saved": {
      const { commits, files, added, removed, branch } = event.data;
      return told(
        "info",
        `Saved: ${count(commits)} commits, ${count(files)} files, +${added} −${removed}`,
        branch ?? "",
      );
    }
    case "call.allowed":
      return told("info", `Allowed without asking: ${event.data.tool}`, event.data.text);
    case "model.changed":
      return told("warn", `Goes on with ${event.data.to}`, event.data.reason);
    case "call.drifted":
      return told("info", `A call in another form: ${event.data.kind}`, event.data.message);
    case "model.waiting": {
      const { model, reason, next, most } = event.data;
      return told("warn", `Waits for ${model}`, `${reason}; try ${next} of ${most} follows`);
    }
    case "ask.raised":
      return told("warn", event.data.ask.kind === "question" ? "Question" : "Approval", event.data.ask.question);
    case "ask.answered":
      return told("info", `Answered by ${event.data.by.name}`, answerText(event.data.answer));
    case "ask.expired":
      return told("warn", "Nobody answered", event.data.meaning.replaceAll("_", " "));
    case "ask.withdrawn":
      return told("info", "The question was withdrawn");
    case "ask.reopened":
    case "wait.reopened":
      return told("warn", "Asked again", event.data.reason);
    case "budget.settled":
      return undefined;
    case "budget.reached":
      return told(
        "bad",
        `Limit reached: ${event.data.limit}`,
        `${event.data.wanted} wanted, ${event.data.allowed} allowed`,
      );
    case "budget.raised":
      return told(
        "info",
        "Budget raised",
        `now ${money(event.data.budget.money_micro_usd)}, ${count(event.data.budget.tokens)} tokens`,
      );
    case "goal.created":
      return told("info", "Goal", event.data.goal.text);
    case "goal.criteria_added":
      return told("info", "Criteria", event.data.criteria.map(({ text }) => text).join("\n"));
    case "goal.criteria_confirmed":
      return told("good", `Criteria confirmed by ${event.data.by.name}`, event.data.ids.join(", "));
    case "goal.planned":
      return told(
        "info",
        `Plan, round ${event.data.round}`,
        event.data.tasks.map(({ id, prompt }) => `${id}: ${prompt}`).join("\n"),
      );
    case "goal.link_changed":
      return told(
        event.data.state === "verified" ? "good" : event.data.state === "failed" ? "bad" : "info",
        `${event.data.task} ${event.data.state}`,
        event.data.reason,
      );
    case "goal.criterion_judged":
      return told(
        event.data.state === "met" ? "good" : "bad",
        `Criterion ${event.data.id} ${event.data.state}`,
        event.data.reason,
      );
    case "goal.integrated":
      return told("info", "Work merged into one branch", event.data.branch ?? event.data.commit);
    case "goal.noted":
      return told("info", "Note", event.data.text);
    case "goal.changed":
      return told(
        event.data.status === "done" ? "good" : "info",
        `Goal ${event.data.status.replaceAll("_", " ")}`,
        event.data.reason,
      );
    case "route.decided":
      return told(
        "info",
        `Routed to ${event.data.runner === "local" ? "" : `${event.data.runner}:`}${event.data.model}`,
        event.data.reason,
      );
    case "handoff.moved":
      return told("info", `Handoff: ${event.data.from} → ${event.data.to}`, event.data.reason);
    default:
      // A newer service may tell of something that this page does not know.
      return undefined;
  }
}

function evidenceTold({
  verdict,
  fact,
  excerpt,
}: Extract<TaskEvent, { type: "evidence.added" }>["data"]["evidence"]): ToldEvent {
  const tone = verdict === "supports" ? "good" : verdict === "contradicts" ? "bad" : "info";
  const held = verdict === "nothing" && fact.kind === "check" && fact.outcome === "failed" ? " as before" : "";
  if (fact.kind === "check")
    return told(tone, `Check ${fact.outcome}${held}: ${argvLine(fact.argv)}`, fact.output_tail || fact.reason);
  if (fact.kind === "review") return told(tone, `Review: ${fact.gate}`, fact.findings.join("\n"));
  return told(tone, `Evidence: ${fact.kind}`, excerpt);
}

function answerText(answer: Extract<TaskEvent, { type: "ask.answered" }>["data"]["answer"]): string {
  if (answer.kind === "approval")
    return answer.approved ? "Approved" : `Denied${answer.reason === undefined ? "" : `: ${answer.reason}`}`;
  if (answer.kind === "budget") return answer.go_on ? "Go on" : "Stop";
  return typeof answer.value === "string" ? answer.value : (JSON.stringify(answer.value) ?? "");
}

function endText(content: unknown): string {
  if (typeof content === "string") return content;
  if (typeof content === "object" && content !== null) {
    const claim: unknown = Reflect.get(content, "claim") ?? Reflect.get(content, "reason");
    if (typeof claim === "string") return claim;
  }
  return JSON.stringify(content, null, 2) ?? "";
}
