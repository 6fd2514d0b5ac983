// An event of a goal as one line for people who cannot be shown a live tree; undefined for events that only matter to programs.
import type { FoldedGoal } from "../../core/fold-goal.ts";
import type { FoldedTree } from "../../core/fold-tree.ts";
import { factText } from "../../core/make-report.ts";
import { verdictText } from "../../core/render-report.ts";
import type { TaskEvent } from "../../protocol/task/event.ts";
import type { PlannedTask } from "../../protocol/task/goal.ts";
import { startedCheckText } from "../../protocol/task/started-check.ts";
import { handoffText } from "./goal-status.ts";
import { oneLine } from "./printable.ts";
import { savedText } from "./saved-text.ts";
import { dim } from "./style.ts";
import { chosenText, routeName } from "../../core/route-name.ts";

const longest = 300;

/** `folded` and `tree` already contain the event. */
export function goalLine(event: TaskEvent, folded: FoldedGoal, tree: FoldedTree): string | undefined {
  const nameOf = (task: string): string => {
    if (task === folded.task) return "the whole";
    const planned = folded.links.get(task)?.planned;
    if (planned !== undefined) return planned;
    const above = folded.links.get(tree.tasks.get(task)?.parent ?? "")?.planned;
    return above === undefined ? task : `${above}, review`;
  };
  const said = describe(event, nameOf);
  if (said === undefined) return undefined;
  return `${dim(new Date(event.at).toISOString().slice(11, 19))} ${oneLine(said.replaceAll(/\s+/g, " "), longest)}`;
}

function describe(event: TaskEvent, nameOf: (task: string) => string): string | undefined {
  const name = nameOf(event.task);
  switch (event.type) {
    case "goal.created":
      return `${event.data.goal.id}: ${event.data.goal.text}`;
    case "goal.criteria_added":
      return `criteria that the model proposes: ${event.data.criteria.map(({ text }) => text).join("; ")}`;
    case "goal.planned": {
      const dropped = event.data.dropped.map(({ what, reason }) => `not carried out: ${what}: ${reason}`);
      return [`round ${event.data.round}: ${event.data.tasks.map(plannedText).join(", ")}`, ...dropped].join("; ");
    }
    case "route.decided":
      return `${name} goes to ${routeName(event.data)}, ${chosenText(event.data, event.attempt)}`;
    case "handoff.moved":
      return event.data.to === "working" ? undefined : `${name} ${handoffText(event.data.to)}: ${event.data.reason}`;
    case "attempt.ended":
      return `${name}: attempt ${event.attempt ?? 1} ${event.data.outcome}: ${event.data.reason}`;
    case "session.saved":
      return `${name}: ${savedText(event.data)}`;
    case "check.started":
      return `${name}: ${startedCheckText(event.data)}`;
    case "evidence.added":
      return `${name}: ${verdictText(event.data.evidence.verdict)}: ${factText(event.data.evidence.fact)}`;
    case "goal.link_changed":
      return `${nameOf(event.data.task)} ${event.data.state}: ${event.data.reason}`;
    case "goal.criterion_judged":
      return `criterion ${event.data.id} ${event.data.state}: ${event.data.reason}`;
    case "goal.integrated":
      return `merged ${event.data.branch === null ? "" : `on the branch ${event.data.branch} `}at ${event.data.commit.slice(0, 12)}`;
    case "goal.noted":
      return event.data.text;
    case "goal.changed":
      return `${event.data.status.replace("_", " ")}: ${event.data.reason}`;
    case "ask.answered":
      return `${event.data.ask} was answered by ${event.data.by.name}`;
    default:
      return undefined;
  }
}

function plannedText({ id, after }: PlannedTask): string {
  return after.length === 0 ? id : `${id} (after ${after.join(", ")})`;
}
