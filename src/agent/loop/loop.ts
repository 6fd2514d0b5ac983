// The agent loop: ask the model, carry out its calls, tell it the results, until it has finished.

import { TuttiError } from "../../protocol/error.ts";
import type { InvocationFile } from "../../protocol/invocation/invocation-file.ts";
import { type CompleteMessage, messageText, type ToolCall, userMessage } from "../../protocol/task/message.ts";
import type { Durable, Model } from "../../ports.ts";
import { findAgent, type FoundAgent } from "../delegation/find-agent.ts";
import { askModel, type Reply } from "./ask-model.ts";
import { isNearLimit, tokensOf } from "./compaction.ts";
import { callsIn, type Conversation, openConversation } from "./conversation.ts";
import type { AgentEnvironment } from "../agent-environment.ts";
import { type AgentSetup, agentSetup } from "./agent-setup.ts";
import type { Caller } from "../delegation/plan.ts";
import { type Trouble, troubleIn } from "./read-reply.ts";
import { compact } from "./summarise.ts";
import { TaskInput, treeFile } from "../delegation/task-input.ts";
import { runTurn, type TurnOutcome } from "./turn.ts";
import { wrongText } from "./tool-result.ts";

export interface LoopDeps {
  /** The model that plays the agents of a tree. */
  readonly model: (file: InvocationFile) => Model;
  readonly environment: AgentEnvironment;
}

/** Replies in a row with the same error after which the task fails. */
const maxStrikes = 3;

/** Returns the task's result. Only what the model cannot do anything about is thrown. */
export async function agentLoop(durable: Durable, deps: LoopDeps): Promise<unknown> {
  const file = treeFile(durable.rootInput);
  const input = TaskInput.parse(durable.input);
  const agent = findAgent(file, input.agent);
  if (agent === undefined) throw new TuttiError("not_found", `there is no agent ${durable.agent}`);
  const { environment } = deps;
  const model = deps.model(file);
  const { rights } = durable;
  const setup = agentSetup({ file, environment, agent, rights, offer: input.tools }, model);
  const { format, toolbox } = setup;
  const talk = await openConversation(durable, input, { format, repeats: (name) => toolbox.waits(name) });
  const granted = {
    file,
    environment,
    rights,
    offer: input.tools,
    agent: { id: agent.id, definition: agent.definition, input },
  };
  const working: Working = { durable, model, agent, setup, talk, granted };
  for (; talk.turn < setup.maxTurns; talk.next()) {
    talk.begin();
    const end = await takeReply(working, await askModel(durable, model, working));
    if (end !== undefined) return end.content;
  }
  throw new TuttiError(
    "task_failed",
    `${agent.id} did not finish in ${setup.maxTurns} turns; raise max_turns or split the task`,
  );
}

interface Working {
  readonly durable: Durable;
  readonly model: Model;
  readonly agent: FoundAgent;
  readonly setup: AgentSetup;
  readonly talk: Conversation;
  readonly granted: Omit<Caller, "now">;
}

/** What the task ends with; undefined when it goes on. */
async function takeReply(working: Working, reply: Reply): Promise<{ readonly content: unknown } | undefined> {
  const { durable, agent, setup, talk } = working;
  const { message, usage, finish } = reply;
  if (finish === "refusal") {
    throw new TuttiError(
      "task_failed",
      `the model of ${agent.id} refused to answer: ${shortText(messageText(message))}`,
    );
  }
  talk.add([message]);
  if (usage.input_tokens > 0) talk.measure(usage.input_tokens + usage.output_tokens);
  const calls = callsIn(message);
  const trouble = troubleIn(reply, setup);
  const answer = calls.length === 0 && trouble === undefined ? answerIn(message, setup) : undefined;
  const told = trouble ?? answer?.trouble;
  if (calls.length > 0) {
    const { results, final } = await carryOut(working, reply, { calls, trouble: told });
    if (final !== undefined) {
      const mail = await durable.receive(`mail:${talk.turn}.0`, noWaiting);
      if (mail === undefined) return final;
      // What came in before the end is heard before the end.
      talk.add([...results, ...(await takeMail(durable, talk.turn, mail))]);
      talk.add([durable.say(`unheard:${talk.turn}`, userMessage(notEnded))]);
      return undefined;
    }
    talk.add(results);
  }
  if (told !== undefined) talk.add([durable.say(`feedback:${talk.turn}`, userMessage(told.feedback))]);
  giveUp(working, told);
  // Before the mail is taken: whether some is there may be another answer after a restart, and this is recorded.
  if (answer?.end === undefined && isNearLimit(tokensOf(talk.size, talk.measured), setup.contextTokens)) {
    await compact({ durable, model: working.model, talk, name: setup.model, limit: setup.contextTokens });
  }
  const first = await durable.receive(`mail:${talk.turn}.0`, noWaiting);
  if (first === undefined) return answer?.end;
  // What came in before the end is heard before the end.
  talk.add(await takeMail(durable, talk.turn, first));
  return undefined;
}

const notEnded = "The task did not end: this came in before. See to it, then call `final` again.";

function carryOut(
  { durable, setup, talk, granted }: Working,
  { message, finish }: Reply,
  { calls, trouble }: { readonly calls: readonly ToolCall[]; readonly trouble: Trouble | undefined },
): Promise<TurnOutcome> {
  return runTurn({
    durable,
    number: talk.turn,
    calls,
    history: talk.view,
    toolbox: setup.toolbox,
    caller: { ...granted, now: message.created_at },
    checkOutput: setup.checkOutput,
    // The fenced format says itself which of its calls was cut.
    isCut: finish === "length" && setup.format === "native",
    hasTrouble: trouble !== undefined && trouble.codes.length > 0,
  });
}

interface Answer {
  readonly end?: { readonly content: unknown };
  readonly trouble?: Trouble;
}

/** A reply without a call is the result, when any result will do or its text is one that fits. */
function answerIn(message: CompleteMessage, { checkOutput }: AgentSetup): Answer {
  const text = messageText(message);
  if (checkOutput === undefined) return { end: { content: text === "" ? null : text } };
  const content = parsed(text);
  const issues = checkOutput(content);
  if (issues.length === 0) return { end: { content } };
  const feedback = `The task needs a result that fits its schema, and your reply does not: ${wrongText(issues)}. Call \`final\` with such a result.`;
  return { trouble: { feedback, codes: ["no_result"] } };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function giveUp({ agent, talk }: Working, trouble: Trouble | undefined): void {
  if (talk.strike(trouble?.codes ?? []) >= maxStrikes) {
    const codes = trouble?.codes.join(", ") ?? "";
    throw new TuttiError(
      "task_failed",
      `${agent.id} made the same error ${maxStrikes} times in a row (${codes}): ${shortText(trouble?.feedback ?? "")}`,
      { details: { codes: [...(trouble?.codes ?? [])] } },
    );
  }
  if (talk.stop !== undefined) throw new TuttiError("task_failed", `${agent.id} goes round in circles: ${talk.stop}`);
}

function shortText(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length > 300 ? `${line.slice(0, 300)}…` : line;
}

const noWaiting = { block: false };

/** What was said to the task from outside since the turn began, from its first message on. */
async function takeMail(durable: Durable, turn: number, first: CompleteMessage): Promise<CompleteMessage[]> {
  const taken: CompleteMessage[] = [];
  for (let message: CompleteMessage | undefined = first; message !== undefined;) {
    taken.push(durable.say(`heard:${turn}.${taken.length}`, message));
    message = await durable.receive(`mail:${turn}.${taken.length}`, noWaiting);
  }
  return taken;
}
