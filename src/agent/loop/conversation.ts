// A task's conversation: put together again after a restart or a handover, so that the next request is the same.

import { z } from "zod";

import { isOfAttempt } from "../../core/message-id.ts";
import { inheritHistory, snapshotHistory } from "../../core/history.ts";
import { completeMessage, type CompleteMessage, type Message, type ToolCall } from "../../protocol/task/message.ts";
import type { Durable, ModelFormat } from "../../ports.ts";
import { folded, masked } from "./compaction.ts";
import { addFenced } from "./fenced-form.ts";
import { modelView, sizeOf } from "./model-view.ts";
import { repeatGuard } from "./repeat-guard.ts";
import { SharedHistory, type TaskInput } from "../delegation/task-input.ts";

/** `said`: messages the task had kept when it was done. In a fold, the next kept message is the summary. */
const Compaction = z.object({ said: z.int(), kind: z.enum(["mask", "fold"]), upTo: z.int() });

const LoopState = z.object({
  turn: z.int(),
  /** Messages of the task before this turn. Those of the turn itself come back from its steps. */
  said: z.int(),
  /** Of those, how many stood there when this run began. */
  before: z.int().default(0),
  /** The error of the last replies, and how many in a row had it. */
  strikes: z.object({ codes: z.string(), count: z.int() }).optional(),
  /** Tokens the last request and its reply took, and the size of the conversation they were. */
  measured: z.object({ tokens: z.int(), size: z.int() }).optional(),
  compactions: z.array(Compaction).default(() => []),
});
type LoopState = z.infer<typeof LoopState>;

export interface Conversation {
  /** All the model sees, in order, calls and results as parts. */
  readonly view: readonly CompleteMessage[];
  /** The same in the format of the model. */
  readonly sent: readonly CompleteMessage[];
  readonly turn: number;
  /** Characters of the view. */
  readonly size: number;
  readonly measured: LoopState["measured"];
  /** Why the task must stop: it goes round in circles. */
  readonly stop: string | undefined;
  /** Given together: what belongs to one turn, results in the order of the calls. */
  add(messages: readonly CompleteMessage[]): void;
  /** Begins the turn: a restart from now on comes back to it. */
  begin(): void;
  next(): void;
  /** Notes what the reply's request took, before its results are added. */
  measure(tokens: number): void;
  /** How many replies in a row had this error; no code is no error. */
  strike(codes: readonly string[]): number;
  mask(upTo: number): void;
  /** `summary` stands for all before `upTo` but the opening. */
  fold(upTo: number, summary: CompleteMessage): void;
}

export interface ConversationOptions {
  readonly format: ModelFormat;
  /** Tools whose repetition is no sign of a loop. */
  readonly repeats: (tool: string) => boolean;
}

export async function openConversation(
  durable: Durable,
  input: TaskInput,
  options: ConversationOptions,
): Promise<Conversation> {
  const restored = await durable.restore(LoopState);
  const earlier = restored?.messages ?? (durable.run > 1 ? await durable.messages() : []);
  const kept = restored === undefined ? earlier : earlier.slice(0, restored.state.said);
  const opening = completeMessage(input.message, { id: `${durable.task}.opening`, now: 0 });
  const guard = repeatGuard(options.repeats);
  const seen = (message: CompleteMessage): CompleteMessage => modelView(message, guard);

  const { before, compactions }: Pick<LoopState, "before" | "compactions"> = restored?.state ?? {
    before: kept.length,
    compactions: [],
  };
  let strikes = restored?.state.strikes;
  const ofEarlierRuns = inCallOrder(kept.slice(0, before)).filter((message) => !isSummary(durable, message));
  // The call that handed the task over has no answer, and the next agent must not see it as one of its own.
  let view = snapshotHistory([...inheritedBy(durable, input), opening, ...ofEarlierRuns.map(seen)]);
  let said = before;
  const due = [...compactions];
  for (const message of inCallOrder(kept.slice(before))) {
    for (; due[0]?.said === said && due[0].kind === "mask"; due.shift()) view = masked(view, due[0].upTo);
    if (due[0]?.said === said) view = folded(view, due.shift()?.upTo ?? 0, { opening, summary: message });
    else view.push(seen(message));
    said += 1;
  }
  for (const { upTo } of due) view = masked(view, upTo);
  const show = (messages: readonly CompleteMessage[]): void => {
    if (options.format === "fenced") addFenced(talk.sent, messages);
    else talk.sent.push(...messages);
    talk.size += sizeOf(messages);
  };
  const shrink = (smaller: CompleteMessage[]): void => {
    talk.view = smaller;
    talk.sent = [];
    talk.size = 0;
    show(smaller);
  };
  // Plain fields, not getters: one is made for every run, and they are read many times a turn.
  const talk: Open = {
    view,
    sent: [],
    turn: restored?.state.turn ?? 0,
    size: 0,
    measured: restored?.state.measured,
    stop: guard.stop,
    add(added) {
      const shown = added.map(seen);
      talk.view.push(...shown);
      show(shown);
      said += added.length;
      talk.stop = guard.stop;
    },
    begin() {
      const { turn, measured } = talk;
      // What is as it would be read without it is not written.
      const now: z.input<typeof LoopState> = { turn, said };
      if (before > 0) now.before = before;
      if (strikes !== undefined) now.strikes = strikes;
      if (measured !== undefined) now.measured = measured;
      if (compactions.length > 0) now.compactions = compactions;
      durable.save(`turn:${turn}`, now);
      if (turn === 0 && input.handed !== undefined) talk.add([durable.say("handed", input.handed.message)]);
    },
    next() {
      talk.turn += 1;
    },
    measure(tokens) {
      talk.measured = { tokens, size: talk.size };
    },
    strike(codes) {
      const joined = codes.join(" ");
      if (joined === "") strikes = undefined;
      else strikes = { codes: joined, count: strikes?.codes === joined ? strikes.count + 1 : 1 };
      return strikes?.count ?? 0;
    },
    mask(upTo) {
      compactions.push({ said, kind: "mask", upTo });
      shrink(masked(talk.view, upTo));
    },
    fold(upTo, summary) {
      compactions.push({ said, kind: "fold", upTo });
      said += 1;
      shrink(folded(talk.view, upTo, { opening, summary }));
    },
  };
  show(view);
  return talk;
}

type Open = { -readonly [K in keyof Conversation]: Conversation[K] } & {
  view: CompleteMessage[];
  sent: CompleteMessage[];
};

/** The summary is for the run that made it; the next one starts from the messages themselves. */
function isSummary(durable: Durable, { id }: CompleteMessage): boolean {
  return isOfAttempt(id, durable) && isSummaryId(id);
}

export function isSummaryId(id: string): boolean {
  return /\.summary:\d+$/.test(id);
}

function inheritedBy(durable: Durable, { context }: TaskInput): CompleteMessage[] {
  if (context !== "inherited" || durable.shared === undefined) return [];
  const { history } = SharedHistory.parse(durable.shared);
  return inheritHistory(history, (_, index) => `${durable.task}.inherited.${index}`);
}

export function callsIn(message: Pick<Message, "parts">): ToolCall[] {
  const calls: ToolCall[] = [];
  for (const part of message.parts) if (part.part_type === "tool_call") calls.push(part.data);
  return calls;
}

/** Results are kept as they come in; the model sees them in the order of its calls, before and after a restart. */
function inCallOrder(messages: readonly CompleteMessage[]): CompleteMessage[] {
  const ordered: CompleteMessage[] = [];
  let calls: string[] = [];
  let results: CompleteMessage[] = [];
  const place = (message: CompleteMessage): number => {
    const [part] = message.parts;
    return part?.part_type === "tool_result" ? calls.indexOf(part.data.tool_call_id) : -1;
  };
  const flush = (): void => {
    ordered.push(...results.toSorted((a, b) => place(a) - place(b)));
    results = [];
  };
  for (const message of messages) {
    if (message.role === "tool") {
      results.push(message);
      continue;
    }
    flush();
    if (message.role === "assistant") calls = callsIn(message).map((call) => call.tool_call_id);
    ordered.push(message);
  }
  flush();
  return ordered;
}
