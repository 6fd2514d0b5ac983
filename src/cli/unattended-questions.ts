// The questions of a run when nobody is there to answer them, so that no command waits in silence.
import type { AnswerOutcome, Tutti } from "../client/client.ts";
import { isGrantable } from "../core/grantable.ts";
import type { FoldedTree } from "../core/fold-tree.ts";
import type { OpenAsk, OpenWait } from "../protocol/api/task-shapes.ts";
import { TuttiError } from "../protocol/error.ts";
import type { AskId } from "../protocol/ids.ts";
import { commandLine } from "./connect.ts";
import { whoAsks } from "./who-asks.ts";
import type { Questions } from "./terminal/inline-questions.ts";
import { askedText } from "./terminal/question-text.ts";
import { note, standardError, widthOfScreen } from "./terminal/screen.ts";

export interface UnattendedOptions {
  /** Approvals are granted that may be granted without looking. */
  readonly yes: boolean;
  /** `--state` as it was given. */
  readonly state: string | undefined;
}

/** A question from before an interruption is closed by an event that follows at once. */
const settleMs = 50;

/**
 * When another process does the work, the question stays open there, and `left` rejects with `needs_input`. When this
 * process does the work, nobody could answer after it has ended, so the answer is no.
 */
export function unattendedQuestions(tutti: Tutti, { yes, state }: UnattendedOptions): Questions {
  const seen = new Set<AskId>();
  const { promise: left, reject } = Promise.withResolvers<never>();
  left.catch(() => undefined);
  let tree: FoldedTree | undefined;
  let timer: NodeJS.Timeout | undefined;
  const look = async (): Promise<void> => {
    timer = undefined;
    const fresh = [...(tree?.open.values() ?? [])].filter(({ id }) => !seen.has(id));
    const kept: (OpenAsk | OpenWait)[] = [];
    for (const open of fresh) {
      seen.add(open.id);
      if (yes && (await grantedByYes(tutti, open))) continue;
      note(askedText(open, { width: widthOfScreen(standardError), state, who: await whoAsks(tutti, open) }));
      if (tutti.url === undefined) await sayNo(tutti, open);
      else kept.push(open);
    }
    if (kept.length > 0) reject(needsInput(kept, state));
  };
  return {
    update(_, latest) {
      tree = latest;
      if (!latest.open.keys().some((id) => !seen.has(id))) return;
      timer ??= setTimeout(() => void look().catch(reject), settleMs);
    },
    left,
    async stop() {
      clearTimeout(timer);
    },
  };
}

/** False when somebody has to decide. */
export async function grantedByYes(tutti: Tutti, open: OpenAsk | OpenWait): Promise<boolean> {
  if (!("kind" in open) || !isGrantable(open)) return false;
  const by = { kind: "rule", name: "--yes" } as const;
  const { accepted } = await tutti.answer(open.id, { kind: "approval", approved: true }, by);
  if (accepted) note(`${askedText(open, { width: widthOfScreen(standardError) })}\ntutti: allowed by --yes`);
  return accepted;
}

async function sayNo(tutti: Tutti, open: OpenAsk | OpenWait): Promise<void> {
  const outcome = await answerNo(tutti, open);
  if (outcome.accepted) note("tutti: there is no input, so the answer is no; to be asked, use a terminal or a daemon");
}

function answerNo(tutti: Tutti, open: OpenAsk | OpenWait): Promise<AnswerOutcome> {
  const by = { kind: "rule", name: "--no-input" } as const;
  if (!("kind" in open)) return tutti.settle(open.id, { error: "not available: there is no input" }, by);
  if (open.kind === "approval") {
    return tutti.answer(open.id, { kind: "approval", approved: false, reason: "no input" }, by);
  }
  return tutti.answer(open.id, open.kind === "budget" ? { kind: "budget", go_on: false } : { kind: "none" }, by);
}

function needsInput(open: readonly (OpenAsk | OpenWait)[], state: string | undefined): TuttiError {
  const ids = open.map(({ id }) => id);
  const command = commandLine(state, `answer ${ids[0] ?? ""} …`);
  const rest = ids.length > 1 ? `, then ${ids.slice(1).join(", ")}` : "";
  const message = `an answer is needed and there is no input: ${ids[0] ?? ""} stays open; answer with \`${command}\`${rest}`;
  return new TuttiError("needs_input", message, { details: { asks: ids, task: open[0]?.root } });
}
