// A task's conversation. It is rebuilt after a restart or a handover so that the next request to the model is the same.

import { z } from "zod";

import { isOfAttempt } from "../../core/message-id.ts";
import { snapshotHistory } from "../../core/history.ts";
import { completeMessage, type CompleteMessage, type Message } from "../../protocol/task/message.ts";
import type { Durable } from "../../ports.ts";
import { inheritedMessages } from "../delegation/handed-messages.ts";
import type { TaskInput } from "../delegation/task-input.ts";
import { foldTurns, maskResults } from "./compaction.ts";
import { inCallOrder } from "./call-order.ts";
import { addFenced } from "./fenced-form.ts";
import { isSummary } from "./message-keys.ts";
import { modelView, sizeOf } from "./model-view.ts";
import { type RepeatGuard, repeatGuard } from "./repeat-guard.ts";

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
  /** The departures from the form of calls that the model was told of. */
  told: z.array(z.string()).optional(),
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
  /**
   * After a restart the task resumes at the turn that began last. `mail` gives what came to a stopped task: the first request of
   * the attempt that goes on has it.
   */
  beginTurn(mail: () => Promise<readonly CompleteMessage[]>): Promise<void>;
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
  /** The departures from the form of calls that the model was told of. */
  readonly told: ReadonlySet<string>;
  noteTold(names: readonly string[]): void;
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
  const state: LoopState = restored?.state ?? { turn: 0, said: 0, before: messages.length, compactions: [] };
  const conversation = new TaskConversation({ durable, input, options }, state);
  const { before, compactions } = state;
  const ofEarlierRuns = messagesOf(messages.slice(0, before)).filter((message) => !isOwnSummary(durable, message));
  // The call that handed the task over has no result, and the next agent must not take it for one of its own.
  conversation.begin(await historyOf(durable, input), ofEarlierRuns);
  const pending = [...compactions];
  for (const message of messagesOf(messages.slice(before))) {
    for (; pending[0]?.said === conversation.said && pending[0].kind === "mask"; pending.shift()) {
      conversation.view = maskResults(conversation.view, pending[0].upTo);
    }
    const isFold = pending[0]?.said === conversation.said;
    conversation.rebuild(message, isFold ? pending.shift()?.upTo : undefined);
  }
  for (const { upTo } of pending) conversation.view = maskResults(conversation.view, upTo);
  conversation.replaceView(conversation.view);
  return conversation;
}

function messagesOf(recorded: readonly CompleteMessage[]): CompleteMessage[] {
  return recorded.length === 0 ? [] : inCallOrder(recorded);
}

interface ConversationParts {
  readonly durable: Durable;
  readonly input: TaskInput;
  readonly options: ConversationOptions;
}

/** A class, since one is made for every run and many are alive at once. */
class TaskConversation implements Conversation {
  view: CompleteMessage[] = [];
  formatted: CompleteMessage[] = [];
  readonly opening: CompleteMessage;
  turn: number;
  size = 0;
  measured: LoopState["measured"];
  limit: number | undefined;
  output: number | undefined;
  choice: ModelChoice;
  stopReason: string | undefined;
  /** How many messages the task has recorded. */
  said: number;
  readonly #parts: ConversationParts;
  readonly #guard: RepeatGuard;
  readonly #before: number;
  readonly #compactions: LoopState["compactions"];
  #strikes: LoopState["strikes"];
  readonly told: Set<string>;

  constructor(parts: ConversationParts, state: LoopState) {
    const { durable, input, options } = parts;
    this.opening = completeMessage(input.message, { id: `${durable.task}.opening`, now: 0 });
    this.turn = state.turn;
    this.measured = state.measured;
    this.limit = state.limit;
    this.output = state.output;
    this.choice = state.choice ?? options.choice;
    this.stopReason = undefined;
    this.said = state.before;
    this.#parts = parts;
    this.#guard = repeatGuard(options.mayRepeat);
    this.#before = state.before;
    this.#compactions = state.compactions;
    this.#strikes = state.strikes;
    this.told = new Set(state.told);
  }

  /** Begins with what was said before this run. */
  begin(history: readonly CompleteMessage[], ofEarlierRuns: readonly CompleteMessage[]): void {
    this.view = snapshotHistory([
      ...history,
      this.opening,
      ...ofEarlierRuns.map((message) => modelView(message, this.#guard)),
    ]);
  }

  /** Puts a message of this run back; with `foldUpTo` it is the summary of all before that. */
  rebuild(message: CompleteMessage, foldUpTo: number | undefined): void {
    if (foldUpTo === undefined) this.view.push(modelView(message, this.#guard));
    else this.view = this.#folded(foldUpTo, message);
    this.said += 1;
  }

  add(added: readonly CompleteMessage[]): void {
    const viewed = added.map((message) => modelView(message, this.#guard));
    this.view.push(...viewed);
    this.#append(viewed);
    this.said += added.length;
    this.stopReason = this.#guard.stopReason;
  }

  async beginTurn(mail: () => Promise<readonly CompleteMessage[]>): Promise<void> {
    const { turn } = this;
    // What was said before the first turn of this run is kept with the state, so it is said once.
    const isOpened = turn !== 0 || this.said > this.#before;
    this.#save(`turn:${turn}`);
    if (isOpened) return;
    const { durable, input } = this.#parts;
    if (!durable.resumed) {
      if (input.handed !== undefined) this.add([durable.say("handed", input.handed.message)]);
      return;
    }
    this.add([durable.say("resumed", resumedMessage)]);
    this.add(await mail());
    // Whether there was mail is not recorded, and the request depends on it.
    this.#save("turn:resumed");
  }

  #save(key: string): void {
    const { turn, measured, limit, output, choice } = this;
    const { durable, options } = this.#parts;
    // A field that has its default value is not written.
    const state: z.input<typeof LoopState> = { turn, said: this.said };
    if (this.#before > 0) state.before = this.#before;
    if (this.#strikes !== undefined) state.strikes = this.#strikes;
    if (measured !== undefined) state.measured = recordedMeasured(measured);
    if (limit !== undefined) state.limit = limit;
    if (output !== undefined) state.output = output;
    if (options.recordsChoice === true || choice !== options.choice) state.choice = recordedChoice(choice);
    if (this.#compactions.length > 0) state.compactions = this.#compactions;
    if (this.told.size > 0) state.told = [...this.told];
    durable.save(key, state);
  }

  nextTurn(): void {
    this.turn += 1;
  }

  measure(tokens: number): void {
    this.measured = { tokens, size: this.size };
  }

  lowerLimit(limit: number): void {
    this.limit = Math.min(limit, this.limit ?? limit);
  }

  choose(choice: ModelChoice): void {
    if (choice.model !== this.choice.model) {
      this.output = undefined;
      this.limit = undefined;
    }
    this.choice = choice;
    this.replaceView(this.view);
  }

  raiseOutput(tokens: number): void {
    this.output = tokens;
  }

  countProblem(codes: readonly string[]): number {
    const joined = codes.join(" ");
    const before = this.#strikes;
    if (joined === "") this.#strikes = undefined;
    else this.#strikes = { codes: joined, count: before?.codes === joined ? before.count + 1 : 1 };
    return this.#strikes?.count ?? 0;
  }

  noteTold(names: readonly string[]): void {
    for (const name of names) this.told.add(name);
  }

  mask(upTo: number): void {
    this.#compactions.push({ said: this.said, kind: "mask", upTo });
    this.replaceView(maskResults(this.view, upTo));
  }

  fold(upTo: number, summary: CompleteMessage): void {
    this.#compactions.push({ said: this.said, kind: "fold", upTo });
    this.said += 1;
    this.replaceView(this.#folded(upTo, summary));
  }

  replaceView(view: CompleteMessage[]): void {
    this.view = view;
    this.formatted = [];
    this.size = 0;
    this.#append(view);
  }

  #append(added: readonly CompleteMessage[]): void {
    if (this.choice.format === "fenced") addFenced(this.formatted, added);
    else this.formatted.push(...added);
    this.size += sizeOf(added);
  }

  #folded(upTo: number, summary: CompleteMessage): CompleteMessage[] {
    const { view, opening } = this;
    // In a thread the opening may be among the latest messages, and then it stays where it is.
    const staysIn = this.#parts.input.thread === true && view.indexOf(opening) >= upTo;
    return foldTurns(view, upTo, { opening: staysIn ? [] : [opening], summary });
  }
}

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

/** A summary is for the run that made it; the next run starts from the messages themselves. */
function isOwnSummary(durable: Durable, { id }: CompleteMessage): boolean {
  return isOfAttempt(id, durable) && isSummary(id);
}

/** What was said before the task: in its thread, or by its caller. What an earlier task repeated is no matter of this one. */
async function historyOf(durable: Durable, input: TaskInput): Promise<CompleteMessage[]> {
  if (input.thread !== true) return inheritedMessages({ task: durable.task, input, shared: durable.shared });
  const guard = repeatGuard(() => true);
  return (await durable.history()).map((message) => modelView(message, guard));
}
