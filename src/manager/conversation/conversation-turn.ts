// One turn of a conversation: the model uses verbs until it answers the person, at most a fixed number of times.

import { z } from "zod";

import { capText } from "../../core/cap-text.ts";
import { inLine } from "../../core/foreign-words.ts";
import { holdsSessionOutput, type Round } from "../../core/rolling-context.ts";
import { type ParsedAction, parseAction } from "../../protocol/conversation/parse-action.ts";
import type { TurnOutcome } from "../../protocol/conversation/conversation-view.ts";
import { TuttiError } from "../../protocol/error.ts";
import { type CompleteMessage, type Message, messageText } from "../../protocol/task/message.ts";
import { askModel } from "./ask-model.ts";
import { conversationPrompt, systemMessage } from "./conversation-prompt.ts";
import { addSpent, type ConversationRun, keyOf, managerAgent, type Turn } from "./conversation-run.ts";
import { runVerb } from "./run-verb.ts";

/** Calls of the model in one turn. The last one can only answer, so there is one verb less. */
const mostCalls = 8;
const longestMistake = 400;

/** Answers the message. What it returns is remembered; `turn` is what the last request was made of. */
export async function runTurn(
  run: ConversationRun,
  message: CompleteMessage,
): Promise<{ readonly round: Round; readonly turn: Turn }> {
  const { durable } = run;
  const turn = await beginTurn(run, message);
  durable.say(keyOf(turn, "said"), message);
  const { reply, calls, isFailed } = await answerPerson(turn);
  const { actions, dropped, spent } = turn;
  const outcome: TurnOutcome = {
    kind: "turn",
    answers: message.id,
    calls,
    tokens: spent.tokens,
    money_micro_usd: spent.money,
    actions,
    dropped,
    failed: isFailed,
  };
  durable.say(keyOf(turn, "answer"), answerMessage(reply, outcome));
  const verbs = actions.map(
    (each) => `${each.verb}${each.target === null ? "" : ` ${each.target}`} -> ${each.outcome}`,
  );
  return { round: { user: turn.said, reply, verbs, held: turn.holdsSessionOutput }, turn };
}

/** The message that ends a turn. */
export function answerMessage(reply: string, outcome: TurnOutcome): Message {
  return {
    name: null,
    role: "assistant",
    agent_id: managerAgent,
    parts: [
      { part_type: "text", data: reply },
      { part_type: "data", data: outcome },
    ],
  };
}

const Recalled = z.array(z.object({ id: z.string(), text: z.string(), status: z.string() }));

async function beginTurn(run: ConversationRun, message: CompleteMessage): Promise<Turn> {
  const said = messageText(message);
  const recalled = await recall(run, said);
  return {
    run,
    message,
    said,
    system: systemMessage(conversationPrompt(), { summary: run.context.summary, recalled }),
    exchanges: [],
    actions: [],
    dropped: [],
    spent: { tokens: 0, money: 0 },
    holdsSessionOutput: holdsSessionOutput(run.context),
  };
}

/** Without what could be recalled the turn goes on all the same. */
async function recall({ durable, deps, turn }: ConversationRun, said: string): Promise<z.infer<typeof Recalled>> {
  const options = { repeatable: true, schema: Recalled, looks: true } as const;
  try {
    return await durable.step(`turn${turn}.recall`, options, async () => Recalled.parse(await deps.recallGoals(said)));
  } catch (thrown) {
    if (thrown instanceof TuttiError && thrown.code === "step_failed") return [];
    throw thrown;
  }
}

interface Answered {
  readonly reply: string;
  readonly calls: number;
  readonly isFailed: boolean;
}

async function answerPerson(turn: Turn): Promise<Answered> {
  let lastMistake: string | undefined;
  for (let calls = 1; ; calls += 1) {
    const isLast = calls === mostCalls;
    let reply;
    try {
      reply = await askModel(turn, { isLast });
    } catch (thrown) {
      if (!(thrown instanceof TuttiError) || !modelFailures.has(thrown.code)) throw thrown;
      const done = turn.actions.length === 0 ? "Nothing was done." : doneSoFar(turn);
      const told = `The model ${turn.run.modelName} gave no reply: ${thrown.message}. ${done}`;
      return { reply: told, calls, isFailed: true };
    }
    addSpent(turn.spent, reply.usage);
    const parsed = parseAction(reply.text);
    turn.dropped.push(...parsed.dropped.map(({ what, reason }) => `${what}: ${reason}`));
    const { action } = parsed;
    if (action?.action === "final") {
      const words = action.message.trim();
      return { reply: words === "" ? "(The manager gave an empty answer.)" : action.message, calls, isFailed: false };
    }
    if (isLast) return { reply: stoppedReply(turn, parsed), calls, isFailed: false };
    const told = action === undefined ? unreadable(parsed) : await runVerb(turn, action);
    const isMistake = action === undefined || turn.actions.at(-1)?.outcome === "error";
    if (isMistake && told === lastMistake) return { reply: repeatedReply(turn, told), calls, isFailed: true };
    lastMistake = isMistake ? told : undefined;
    turn.exchanges.push({ reply: reply.text, told: withDropped(told, action === undefined ? [] : parsed.dropped) });
  }
}

const modelFailures: ReadonlySet<string> = new Set(["step_failed", "over_budget"]);

function unreadable({ dropped }: ParsedAction): string {
  return withDropped("Your reply could not be read as one action, so nothing was carried out.", dropped);
}

/** A model needs to see the kind of its mistakes, not hundreds of them. */
const shown = 10;

function withDropped(text: string, dropped: ParsedAction["dropped"]): string {
  if (dropped.length === 0) return text;
  const lines = dropped.slice(0, shown).map(({ what, reason }) => `- ${what}: ${reason}`);
  return [text, "Not used of your reply:", ...lines].join("\n");
}

/** Stands for the answer that the model did not give. */
function stoppedReply(turn: Turn, { action }: ParsedAction): string {
  const wanted =
    action?.action === "verb"
      ? `It wanted to use ${action.verb.slice(0, 64)} next, which was not carried out.`
      : "Its last reply could not be read, and nothing of it was carried out.";
  return `The manager did not come to an answer in ${mostCalls} calls of its model. ${wanted} ${doneSoFar(turn)}`;
}

/** A model that repeats a mistake which it was told of does not find its way by itself. */
function repeatedReply(turn: Turn, told: string): string {
  const mistake = inLine(capText(told, longestMistake));
  return `The manager's model made the same mistake twice, so it was not asked again: ${mistake}\n${doneSoFar(turn)}`;
}

function doneSoFar({ actions }: Turn): string {
  if (actions.length === 0) return "No verb was used.";
  const lines = actions.map(
    ({ verb, target, outcome }) => `- ${verb}${target === null ? "" : ` ${target}`}: ${outcome}`,
  );
  return ["What was done:", ...lines].join("\n");
}
