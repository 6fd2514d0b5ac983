// The agent loop: call the model, carry out the calls of its reply, give it the results, until it has finished.

import { TuttiError } from "../../protocol/error.ts";
import type { AgentDefinition, InvocationFile } from "../../protocol/invocation/invocation-file.ts";
import { readWrittenJson } from "../../protocol/json/written-json.ts";
import { describeIssues } from "../../protocol/lenient-read.ts";
import { type CompleteMessage, messageText, type ToolCall, userMessage } from "../../protocol/task/message.ts";
import type { Durable } from "../../ports.ts";
import type { Model } from "../../model-port.ts";
import type { AgentEnvironment } from "../agent-environment.ts";
import type { Caller } from "../delegation/invocation-caller.ts";
import { findAgent, type FoundAgent } from "../delegation/find-agent.ts";
import { Surroundings, surroundingsText } from "../surroundings.ts";
import { treeFile } from "../delegation/task-input.ts";
import { type AgentSetup, agentSetup } from "./agent-setup.ts";
import { callModel, type RecordedReply } from "./call-model.ts";
import { compactConversation } from "./compact-conversation.ts";
import { estimateTokens, isNearLimit } from "./compaction.ts";
import { callsIn } from "./call-order.ts";
import { type Conversation, type ModelChoice, openConversation } from "./conversation.ts";
import { driftKey, feedbackKey, type Occasion } from "./message-keys.ts";
import { driftNote, driftsOf, nameOf, recordDrifts, untold } from "./drift.ts";
import { readTaskInput } from "./read-task-input.ts";
import { type ReplyProblem, replyProblem, violationsIn } from "./read-reply.ts";
import { runTurn, type TurnOutcome } from "./turn.ts";

export interface LoopDeps {
  /** The model that answers for the agents of a tree. */
  readonly model: (file: InvocationFile) => Model;
  readonly environment: AgentEnvironment;
  /** The agents and settings of all trees; those in the input of the tree's root when absent. */
  readonly file?: InvocationFile | undefined;
  /** Goes before the model of the agent's definition. */
  readonly modelName?: string | undefined;
  /** Go before the models that the definition tries next. */
  readonly nextModels?: readonly string[] | undefined;
}

/** The task fails after this many replies in a row with the same problem. */
const maxSameProblem = 3;

/** Returns the task's result. Throws only what the model cannot do anything about. */
export async function agentLoop(durable: Durable, deps: LoopDeps): Promise<unknown> {
  const file = deps.file ?? treeFile(durable.rootInput);
  const input = readTaskInput(durable.input);
  const agent = findAgent(file, input.agent);
  if (agent === undefined) throw new TuttiError("not_found", `there is no agent ${durable.agent}`);
  const { environment, modelName, nextModels } = deps;
  const model = deps.model(file);
  const { rights } = durable;
  const offeredTools = input.tools;
  const options = { file, environment, agent, rights, offeredTools, modelName, nextModels };
  const first = agentSetup(options, model);
  const conversation = await openConversation(durable, input, {
    choice: { model: first.model, format: first.format },
    recordsChoice: first.formatMayChange,
    mayRepeat: (name) => first.toolbox.waits(name),
  });
  const { id, definition } = agent;
  const surroundings = await lookAround(durable, environment, definition);
  const setupFor = (choice: ModelChoice): Pick<LoopRun, "setup" | "system"> => {
    const isFirst = choice.model === first.model && choice.format === first.format;
    const setup = isFirst ? first : agentSetup({ ...options, choice }, model);
    return { setup, system: surroundings === "" ? setup.system : `${setup.system}\n\n${surroundings}` };
  };
  const caller = { file, environment, rights, offeredTools, agent: { id, definition, input } };
  const run: LoopRun = {
    durable,
    model,
    agent,
    ...setupFor(conversation.choice),
    conversation,
    caller,
    choose(choice) {
      conversation.choose(choice);
      Object.assign(run, setupFor(choice));
    },
  };
  for (; conversation.turn < first.maxTurns; conversation.nextTurn()) {
    await conversation.beginTurn(() => takeMail(durable, "resumed"));
    if (conversation.turn === 0 && isLong(run)) await shorten(run, "opening");
    const reply = await callModel(run);
    const end = await takeReply(run, reply);
    if (end !== undefined) return end.content;
  }
  throw new TuttiError(
    "task_failed",
    `${agent.id} did not finish in ${first.maxTurns} turns; raise max_turns or split the task`,
  );
}

/** What the agent is told about where it works: recorded, so that its prompt stays the same over a restart. */
async function lookAround(
  durable: Durable,
  { lookAround: look }: AgentEnvironment,
  { surroundings: wanted }: AgentDefinition,
): Promise<string> {
  const [folder] = durable.rights.roots;
  if (look === undefined || folder === undefined || wanted?.length === 0) return "";
  const found = await durable.step("surroundings", { repeatable: true, schema: Surroundings }, (step) =>
    look(folder, step.now()),
  );
  return surroundingsText(found, wanted);
}

/** What one run of the loop works with. */
interface LoopRun {
  readonly durable: Durable;
  readonly model: Model;
  readonly agent: FoundAgent;
  /** These two change when the agent goes on with another model or format. */
  setup: AgentSetup;
  system: string;
  readonly conversation: Conversation;
  /** Goes on with another model or format. */
  choose(choice: ModelChoice): void;
  /** The agent as a caller of others; the time of the call is added in each turn. */
  readonly caller: Omit<Caller, "now">;
}

/** The task's result, when the reply ends it; undefined when the loop goes on. */
async function takeReply(run: LoopRun, reply: RecordedReply): Promise<{ readonly content: unknown } | undefined> {
  const { durable, agent, setup, conversation } = run;
  const { message, usage, finish } = reply;
  if (finish === "refusal") {
    throw new TuttiError("task_failed", `the model of ${agent.id} refused to answer: ${oneLine(messageText(message))}`);
  }
  conversation.add([message]);
  if (usage.input_tokens > 0) conversation.measure(reply.context_tokens ?? usage.input_tokens + usage.output_tokens);
  if (reply.context_limit !== undefined) conversation.lowerLimit(reply.context_limit);
  const { turn } = conversation;
  const calls = callsIn(message);
  const unreadable = replyProblem(reply, setup);
  const drifts = driftsOf(violationsIn(reply, setup));
  if (drifts.length > 0) await recordDrifts(durable, turn, drifts);
  const answer = calls.length === 0 && unreadable === undefined ? answerIn(message, setup) : undefined;
  const problem = unreadable ?? answer?.problem;
  if (calls.length > 0) {
    const { results, final } = await runCalls(run, reply, { calls, problem });
    if (final !== undefined) {
      const mail = await takeMail(durable, turn);
      if (mail.length === 0) return final;
      // The model gets to see what came in before it ended the task.
      conversation.add([...results, ...mail]);
      conversation.add([durable.say(`unheard:${turn}`, userMessage(notEnded))]);
      return undefined;
    }
    conversation.add(results);
  }
  if (problem !== undefined) {
    conversation.add([durable.say(feedbackKey(turn), userMessage(problem.feedback))]);
  }
  const unknown = calls.length === 0 ? [] : untold(drifts, conversation.told);
  if (unknown.length > 0) {
    conversation.add([durable.say(driftKey(turn), userMessage(driftNote(unknown)))]);
    conversation.noteTold(unknown.map(nameOf));
  }
  failIfStuck(run, problem);
  // Before mail is taken: whether there is some can change with a restart, and what this does is recorded.
  if (answer?.end === undefined && isLong(run)) await shorten(run, "turn");
  const mail = await takeMail(durable, turn);
  if (mail.length === 0) return answer?.end;
  conversation.add(mail);
  return undefined;
}

function limitOf({ setup, conversation }: LoopRun): number {
  return Math.min(setup.contextTokens, conversation.limit ?? setup.contextTokens);
}

/**
 * Whether the conversation is near the model's limit. One that was inherited or handed over may be so from the beginning:
 * an earlier run may have shortened it for itself, or its model takes more.
 */
function isLong(run: LoopRun): boolean {
  const { size, measured } = run.conversation;
  return isNearLimit(estimateTokens(size, measured), limitOf(run));
}

function shorten(run: LoopRun, occasion: Occasion): Promise<void> {
  const { durable, model, setup, conversation, caller } = run;
  const { attendants } = caller.environment;
  const limit = limitOf(run);
  return compactConversation({ durable, model, modelName: setup.model, conversation, limit, occasion, attendants });
}

const notEnded =
  "The task did not end: the messages above came in before your result. See to them, then call `final` again.";

function runCalls(
  { durable, setup, conversation, caller }: LoopRun,
  { message, finish }: RecordedReply,
  { calls, problem }: { readonly calls: readonly ToolCall[]; readonly problem: ReplyProblem | undefined },
): Promise<TurnOutcome> {
  return runTurn({
    durable,
    number: conversation.turn,
    calls,
    history: conversation.view,
    toolbox: setup.toolbox,
    caller: { ...caller, now: message.created_at },
    checkOutput: setup.checkOutput,
    // In the fenced format the parser itself knows which call was cut.
    isCut: finish === "length" && setup.format === "native",
    hasProblem: problem !== undefined && problem.codes.length > 0,
  });
}

interface Answer {
  readonly end?: { readonly content: unknown };
  readonly problem?: ReplyProblem;
}

/** A reply without a call is the task's result, unless there is an output schema that it does not fit. */
function answerIn(message: CompleteMessage, { checkOutput }: AgentSetup): Answer {
  const text = messageText(message);
  if (checkOutput === undefined) return { end: { content: text === "" ? null : text } };
  const content = jsonOrText(text);
  const issues = checkOutput(content);
  if (issues.length === 0) return { end: { content } };
  const feedback = `The task needs a result that fits its schema, and your reply does not: ${describeIssues(issues)}. Call \`final\` with such a result.`;
  return { problem: { feedback, codes: ["no_result"] } };
}

/** JSON that would be changed by reading it stays text. */
function jsonOrText(text: string): unknown {
  const read = readWrittenJson(text);
  return read.ok ? read.value : text;
}

/** Throws when the model keeps making the same mistake or repeats the same call. */
function failIfStuck({ agent, conversation }: LoopRun, problem: ReplyProblem | undefined): void {
  const codes = problem?.codes ?? [];
  if (conversation.countProblem(codes) >= maxSameProblem) {
    throw new TuttiError(
      "task_failed",
      `${agent.id} made the same error ${maxSameProblem} times in a row (${codes.join(", ")}): ${oneLine(problem?.feedback ?? "")}`,
      { details: { codes: [...codes] } },
    );
  }
  if (conversation.stopReason !== undefined) {
    throw new TuttiError("task_failed", `${agent.id} goes round in circles: ${conversation.stopReason}`);
  }
}

/** The beginning of a text, on one line. */
function oneLine(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length > 300 ? `${line.slice(0, 300)}…` : line;
}

const noWaiting = { block: false };

/** Records the messages that came to the task from outside since the turn began, or while it was stopped. */
async function takeMail(durable: Durable, turn: number | "resumed"): Promise<CompleteMessage[]> {
  const taken: CompleteMessage[] = [];
  for (;;) {
    const message = await durable.receive(`mail:${turn}.${taken.length}`, noWaiting);
    if (message === undefined) return taken;
    taken.push(durable.say(`heard:${turn}.${taken.length}`, message));
  }
}
