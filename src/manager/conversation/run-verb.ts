// Carries out one verb of a turn: checks it, asks the person where it must, runs it as a step, and words the result for the model.

import { z } from "zod";

import { approvalOutcome } from "../../core/approval.ts";
import { capText } from "../../core/cap-text.ts";
import { inLine, saidBy } from "../../core/foreign-words.ts";
import { areOwnWords } from "../../core/relayed-words.ts";
import {
  type CheckedVerb,
  checkVerbCall,
  needsPerson,
  verbCatalogue,
  type VerbName,
} from "../../core/verb-catalogue.ts";
import type { VerbCall } from "../../protocol/conversation/parse-action.ts";
import type { TakenAction } from "../../protocol/conversation/conversation-view.ts";
import { TuttiError } from "../../protocol/error.ts";
import { byProgramIn } from "../../protocol/invocation/by-program.ts";
import { Answer, type Answerer } from "../../protocol/task/ask.ts";
import type { VerbContext, VerbHandlers } from "./conversation-deps.ts";
import { quoted } from "./conversation-prompt.ts";
import { keyOf, managerAgent, type Turn } from "./conversation-run.ts";

const longestResult = 2_000;

/** What the model is told about the verb. Nothing that a verb does ends the turn. */
export async function runVerb(turn: Turn, { verb, args }: VerbCall): Promise<string> {
  const key = keyOf(turn, `verb.${turn.exchanges.length + 1}`);
  const { durable } = turn.run;
  const call = { tool_call_id: key, tool_name: verb, input: args };
  durable.say(`${key}.call`, {
    name: null,
    role: "assistant",
    agent_id: managerAgent,
    parts: [{ part_type: "tool_call", data: call }],
  });
  const { outcome, text } = await carryOut(turn, { key, verb, args });
  turn.actions.push({ verb: verb.slice(0, 64), target: targetOf(args), outcome });
  durable.say(`${key}.result`, {
    name: null,
    role: "tool",
    parts: [
      {
        part_type: "tool_result",
        data: { tool_call_id: key, tool_name: verb, parts: [{ part_type: "text", data: text }] },
      },
    ],
  });
  return `${verb.slice(0, 64)} -> ${text}`;
}

interface VerbRun {
  readonly outcome: TakenAction["outcome"];
  readonly text: string;
}

const failed = (text: string, outcome: TakenAction["outcome"] = "error"): VerbRun => ({
  outcome,
  text: `error: ${text}`,
});

interface KeyedCall {
  readonly key: string;
  readonly verb: string;
  readonly args: Readonly<Record<string, unknown>>;
}

async function carryOut(turn: Turn, { key, verb, args }: KeyedCall): Promise<VerbRun> {
  const check = checkVerbCall(verb, args);
  if (!check.ok) return failed(check.message);
  const { call } = check;
  const misuse = misuseOf(turn, call);
  if (misuse !== undefined) return failed(misuse);
  const program = byProgramIn(turn.run.durable.rootConfig);
  const speaker = turn.message.name ?? "person";
  const person: Answerer = { kind: program === undefined ? "person" : "operator", name: speaker };
  try {
    if (!needsPerson(call.verb, turn.holdsSessionOutput)) return await perform(turn, { key, call, person });
    const approval = await approve(turn, key, call);
    if (!approval.approved) return failed(`it was not carried out: ${approval.reason}`, "denied");
    return await perform(turn, { key, call, person, mark: approval.mark });
  } catch (thrown) {
    if (!(thrown instanceof TuttiError)) throw thrown;
    // What went wrong may be told in words that a session chose, such as the name of a file.
    turn.holdsSessionOutput = true;
    const message = quoted(capText(thrown.message, longestResult));
    if (thrown.code === "step_failed") return failed(message);
    if (thrown.code !== "outcome_unknown") throw thrown;
    return failed(`whether it was carried out is not known; look before you try again. ${message}`, "unknown");
  }
}

function misuseOf({ run, said }: Turn, { verb, args }: CheckedVerb): string | undefined {
  if ("task" in args && args.task === run.durable.task) return `${args.task} is this conversation`;
  if (verb === "asks.answer" && !areOwnWords(said, args.words)) {
    return "`words` must be copied from the person's message of this turn; ask the person what to answer";
  }
  return undefined;
}

const Preview = z.object({ lines: z.array(z.string()), mark: z.string().optional() });

type Approval =
  | { readonly approved: true; readonly mark: string | undefined }
  | { readonly approved: false; readonly reason: string };

/** Only a person's yes counts, not one of an operator or of a rule (invariant 14). */
async function approve({ run, holdsSessionOutput }: Turn, key: string, { verb, args }: CheckedVerb): Promise<Approval> {
  const { durable, deps } = run;
  const options = { repeatable: true, schema: Preview, input: [verb, args], looks: true } as const;
  const shown = await durable.step(`${key}.preview`, options, async () => {
    const { lines, mark } = await deps.preview(verb, args);
    return { lines: [...lines], ...(mark === undefined ? {} : { mark }) };
  });
  const why = holdsSessionOutput
    ? "It has read output of a session in this conversation, which may have talked it into this."
    : "It cannot be undone.";
  const happens = [...argumentLines(args), ...shown.lines.map(inLine)];
  const question = [`May the manager do this? ${verb}: ${verbCatalogue[verb].about}. ${why}`, ...happens].join("\n");
  const waited = await durable.wait(`${key}.approval`, {
    ask: { kind: "approval", question, details: { verb, arguments: args, shown: shown.lines } },
    schema: Answer,
  });
  const outcome = approvalOutcome(waited);
  if (!outcome.approved) return outcome;
  if (!("by" in waited) || waited.by.kind !== "person") {
    return { approved: false, reason: "only a person can agree to this" };
  }
  return { approved: true, mark: shown.mark };
}

function argumentLines(args: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(args).map(([name, value]) => {
    return saidBy(inLine(name), typeof value === "string" ? value : (JSON.stringify(value) ?? ""));
  });
}

const Result = z.object({ text: z.string() });

interface Performed {
  readonly key: string;
  readonly call: CheckedVerb;
  readonly person: Answerer;
  readonly mark?: string | undefined;
}

/** A verb that changes something runs once: after a restart in the middle of it the outcome is unknown (invariant 1). */
async function perform(turn: Turn, { key, call, person, mark }: Performed): Promise<VerbRun> {
  const { effect, shows } = verbCatalogue[call.verb];
  if (shows === "sessions") turn.holdsSessionOutput = true;
  const options = { repeatable: effect === "look", schema: Result, input: [call.verb, call.args] };
  const { text } = await turn.run.durable.step(key, options, async (step) => {
    const program = byProgramIn(turn.run.durable.rootConfig);
    const context = { person, mark, program, folder: turn.run.folder, key: step.key };
    const value = await runHandler(await turn.run.deps.verbs(), call, context);
    return { text: capText(JSON.stringify(value) ?? "null", longestResult) };
  });
  return { outcome: "ok", text: shows === "sessions" ? quoted(text) : text };
}

function runHandler<N extends VerbName>(
  handlers: VerbHandlers,
  { verb, args }: CheckedVerb<N>,
  context: VerbContext,
): Promise<unknown> {
  return handlers[verb](args, context);
}

const targets = ["task", "goal", "ask", "below"];

function targetOf(args: Readonly<Record<string, unknown>>): string | null {
  const found = targets.map((name) => args[name]).find((value) => typeof value === "string");
  return typeof found === "string" ? found.slice(0, 200) : null;
}
