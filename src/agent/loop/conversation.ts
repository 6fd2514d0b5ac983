// A task's conversation. It is rebuilt after a restart or a handover so that the next request to the model is the same.

import { z } from "zod";

import { isOfAttempt } from "../../core/message-id.ts";
import { inheritHistory, snapshotHistory } from "../../core/history.ts";
import { completeMessage, type CompleteMessage, type Message } from "../../protocol/task/message.ts";
import type { Durable } from "../../ports.ts";
import { SharedHistory, type TaskInput } from "../delegation/task-input.ts";
import { foldTurns, maskResults } from "./compaction.ts";
import { inCallOrder } from "./call-order.ts";
import { addFenced } from "./fenced-form.ts";
import { isSummary } from "./message-keys.ts";
import { modelView, sizeOf } from "./model-view.ts";
import { repeatGuard } from "./repeat-guard.ts";

/** `said`: how many messages the task had recorded before this. After a `fold`, the next recorded message is its summary. */
const Compaction = z.object({ said: z.int(), kind: z.enum(["mask", "fold"]), upTo: z.int() });

/** A model and the format in which it calls tools. */
const ModelChoice = z.object({ model: z.string(), format: z.enum(["native", "fenced"]) });
export type ModelChoice = z.infer<typeof ModelChoice>;

/** The tokens that the last request and its reply took, and the size of the conversation at that point. */
const Measured = z.object({ tokens: z.int(), size: z.int() });
type Measured = z.infer<typeof Measured>;

/** In the record, both are lists without names; earlier versions wrote them as they are in memory. */
const recordedChoice = ({ model, format }: ModelChoice): [string, ModelChoice["format"]] => [model, format];
const RecordedChoice = z
  .tuple([ModelChoice.shape.model, ModelChoice.shape.format])
  .transform(([model, format]): ModelChoice => ({ model, format }));
const recordedMeasured = ({ tokens, size }: Measured): [number, number] => [tokens, size];
const RecordedMeasured = z.tuple([z.int(), z.int()]).transform(([tokens, size]): Measured => ({ tokens, size }));

/** Stored with the task; the field names are part of the record. */
const LoopState = z.object({
  turn: z.int(),
  /** How many messages the task had recorded before this turn. Those of the turn itself come back from its steps. */
  said: z.int(),
  /** How many of them are from earlier runs. */
  before: z.int().default(0),
  /** The problem of the latest replies, and how many of them in a row had it. */
  strikes: z.object({ codes: z.string(), count: z.int() }).optional(),
  measured: z.union([RecordedMeasured, Measured]).optional(),
  /** The most tokens that the provider takes, when it has refused a longer request. */
  limit: z.int().optional(),
  /** The longest reply that is asked for, when a shorter one was cut. */
  output: z.int().optional(),
  /** The model and format in use; absent while they are those of the agent's setup. */
  choice: z.union([RecordedChoice, ModelChoice]).optional(),
  compactions: z.array(Compaction).default(() => []),
});
type LoopState = z.infer<typeof LoopState>;

export interface Conversation {
  /** Everything the model sees, in order, with calls and results as parts. */
  readonly view: readonly CompleteMessage[];
  /** The same messages in the format of the model. */
  readonly formatted: readonly CompleteMessage[];
  /** The first message of the task. */
  readonly opening: CompleteMessage;
  readonly turn: number;
  /** Characters in the view. */
  readonly size: number;
  readonly measured: LoopState["measured"];
  /** The most tokens that the provider takes, as far as it has refused a longer request. */
  readonly limit: number | undefined;
  /** The longest reply that is asked for, when a shorter one was cut. */
  readonly output: number | undefined;
  /** The model and format in use. */
  readonly choice: ModelChoice;
  /** Why the task must stop: the model repeats itself. Undefined while it may go on. */
  readonly stopReason: string | undefined;
  /** The messages of one turn must be added together, results in the order of their calls. */
  add(messages: readonly CompleteMessage[]): void;
  /** After a restart the task resumes at the turn that began last. */
  beginTurn(): void;
  nextTurn(): void;
  /** Notes the tokens of the last request and its reply. Must be called before the results of the reply are added. */
  measure(tokens: number): void;
  /** Notes that the provider takes no more tokens than this. */
  lowerLimit(limit: number): void;
  /** Goes on with another model, or in another format. What was learned about the limits of the last one is forgotten. */
  choose(choice: ModelChoice): void;
  /** Notes that a reply was cut and longer ones are asked for from now on. */
  raiseOutput(tokens: number): void;
  /** Counts the replies in a row that had this problem; no codes mean that there was no problem. */
  countProblem(codes: readonly string[]): number;
  mask(upTo: number): void;
  /** Puts `summary` in the place of all messages before `upTo` except the first. */
  fold(upTo: number, summary: CompleteMessage): void;
}

export interface ConversationOptions {
  /** The model and format to begin with. */
  readonly choice: ModelChoice;
  /** Whether that choice may be another one after a restart, so that it must be recorded. */
  readonly recordsChoice?: boolean;
  /** Whether a tool may be called again without the model being stuck. */
  readonly mayRepeat: (tool: string) => boolean;
}

export async function openConversation(
  durable: Durable,
  input: TaskInput,
  options: ConversationOptions,
): Promise<Conversation> {
  const restored = await durable.restore(LoopState);
  const recorded = restored?.messages ?? (durable.run > 1 || durable.resumed ? await durable.messages() : []);
  const messages = restored === undefined ? recorded : recorded.slice(0, restored.state.said);
  const opening = completeMessage(input.message, { id: `${durable.task}.opening`, now: 0 });
  const guard = repeatGuard(options.mayRepeat);
  const toView = (message: CompleteMessage): CompleteMessage => modelView(message, guard);

  const { before, compactions }: Pick<LoopState, "before" | "compactions"> = restored?.state ?? {
    before: messages.length,
    compactions: [],
  };
  let strikes = restored?.state.strikes;
  const ofEarlierRuns = inCallOrder(messages.slice(0, before)).filter((message) => !isOwnSummary(durable, message));
  // The call that handed the task over has no result, and the next agent must not take it for one of its own.
  let view = snapshotHistory([...(await historyOf(durable, input)), opening, ...ofEarlierRuns.map(toView)]);
  let count = before;
  // In a thread the opening may be among the latest messages, and then it stays where it is.
  const folded = (long: readonly CompleteMessage[], upTo: number, summary: CompleteMessage): CompleteMessage[] =>
    foldTurns(long, upTo, {
      opening: input.thread === true && long.indexOf(opening) >= upTo ? [] : [opening],
      summary,
    });
  const pending = [...compactions];
  for (const message of inCallOrder(messages.slice(before))) {
    for (; pending[0]?.said === count && pending[0].kind === "mask"; pending.shift()) {
      view = maskResults(view, pending[0].upTo);
    }
    if (pending[0]?.said === count) view = folded(view, pending.shift()?.upTo ?? 0, message);
    else view.push(toView(message));
    count += 1;
  }
  for (const { upTo } of pending) view = maskResults(view, upTo);
  const append = (added: readonly CompleteMessage[]): void => {
    if (conversation.choice.format === "fenced") addFenced(conversation.formatted, added);
    else conversation.formatted.push(...added);
    conversation.size += sizeOf(added);
  };
  const replaceView = (smaller: CompleteMessage[]): void => {
    conversation.view = smaller;
    conversation.formatted = [];
    conversation.size = 0;
    append(smaller);
  };
  // Plain fields, not getters: one conversation is made for every run, and its fields are read many times a turn.
  const conversation: MutableConversation = {
    view,
    formatted: [],
    opening,
    turn: restored?.state.turn ?? 0,
    size: 0,
    measured: restored?.state.measured,
    limit: restored?.state.limit,
    output: restored?.state.output,
    choice: restored?.state.choice ?? options.choice,
    stopReason: guard.stopReason,
    add(added) {
      const viewed = added.map(toView);
      conversation.view.push(...viewed);
      append(viewed);
      count += added.length;
      conversation.stopReason = guard.stopReason;
    },
    beginTurn() {
      const { turn, measured, limit, output, choice } = conversation;
      // A field that has its default value is not written.
      const state: z.input<typeof LoopState> = { turn, said: count };
      if (before > 0) state.before = before;
      if (strikes !== undefined) state.strikes = strikes;
      if (measured !== undefined) state.measured = recordedMeasured(measured);
      if (limit !== undefined) state.limit = limit;
      if (output !== undefined) state.output = output;
      if (options.recordsChoice === true || choice !== options.choice) state.choice = recordedChoice(choice);
      if (compactions.length > 0) state.compactions = compactions;
      durable.save(`turn:${turn}`, state);
      if (turn !== 0) return;
      if (durable.resumed) conversation.add([durable.say("resumed", resumedMessage)]);
      else if (input.handed !== undefined) conversation.add([durable.say("handed", input.handed.message)]);
    },
    nextTurn() {
      conversation.turn += 1;
    },
    measure(tokens) {
      conversation.measured = { tokens, size: conversation.size };
    },
    lowerLimit(limit) {
      conversation.limit = Math.min(limit, conversation.limit ?? limit);
    },
    choose(choice) {
      if (choice.model !== conversation.choice.model) {
        conversation.output = undefined;
        conversation.limit = undefined;
      }
      conversation.choice = choice;
      replaceView(conversation.view);
    },
    raiseOutput(tokens) {
      conversation.output = tokens;
    },
    countProblem(codes) {
      const joined = codes.join(" ");
      if (joined === "") strikes = undefined;
      else strikes = { codes: joined, count: strikes?.codes === joined ? strikes.count + 1 : 1 };
      return strikes?.count ?? 0;
    },
    mask(upTo) {
      compactions.push({ said: count, kind: "mask", upTo });
      replaceView(maskResults(conversation.view, upTo));
    },
    fold(upTo, summary) {
      compactions.push({ said: count, kind: "fold", upTo });
      count += 1;
      replaceView(folded(conversation.view, upTo, summary));
    },
  };
  append(view);
  return conversation;
}

type MutableConversation = { -readonly [K in keyof Conversation]: Conversation[K] } & {
  view: CompleteMessage[];
  formatted: CompleteMessage[];
};

/** A summary is for the run that made it; the next run starts from the messages themselves. */
/** Also keeps the conversation from ending in a message of the model itself, which some providers refuse. */
const resumedMessage: Message = {
  role: "user",
  name: null,
  parts: [
    {
      part_type: "text",
      data:
        "A person stopped the work here, and it goes on now. Calls that were under way may or may not have been carried " +
        "out: look before you repeat one.",
    },
  ],
};

function isOwnSummary(durable: Durable, { id }: CompleteMessage): boolean {
  return isOfAttempt(id, durable) && isSummary(id);
}

/** What was said before the task: in its thread, or by its caller. What an earlier task repeated is no matter of this one. */
async function historyOf(durable: Durable, input: TaskInput): Promise<CompleteMessage[]> {
  if (input.thread !== true) return inheritedHistory(durable, input);
  const guard = repeatGuard(() => true);
  return (await durable.history()).map((message) => modelView(message, guard));
}

function inheritedHistory(durable: Durable, { context }: TaskInput): CompleteMessage[] {
  if (context !== "inherited" || durable.shared === undefined) return [];
  const { history } = SharedHistory.parse(durable.shared);
  return inheritHistory(history, (_, index) => `${durable.task}.inherited.${index}`);
}
