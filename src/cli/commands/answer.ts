// `tutti answer`: answers a question, an approval or a budget ask, or gives the result of a tool the client carries out itself.
import type { AnswerOutcome, Reader, Tutti } from "../../client/client.ts";
import type { Host } from "../../host/host.ts";
import type { OpenAsk, OpenWait } from "../../protocol/api/task-shapes.ts";
import { type ErrorCode, toTuttiError, TuttiError } from "../../protocol/error.ts";
import { Answer } from "../../protocol/task/ask.ts";
import { commandLine, interruptedStatus, withDaemon } from "../connect.ts";
import { findAsk } from "../find-id.ts";
import { findOpenAsk } from "../open-asks.ts";
import { allowAlways, type Always, alwaysOf, readAlways, ruleText } from "../give-answer.ts";
import { whoAsks } from "../who-asks.ts";
import { submitAnswer } from "../submit-answer.ts";
import { note, standardError, widthOfScreen, writeJson, writeLine } from "../terminal/screen.ts";
import { canAsk, prompt } from "../terminal/terminal-prompt.ts";
import { againText, confirmText, isYes, parseAnswer, questionText } from "../terminal/question-text.ts";
import { readWrittenJson } from "../../protocol/json/written-json.ts";

export interface AnswerOptions {
  readonly state?: string;
  readonly json?: boolean;
  readonly jsonValue?: string;
}

export async function answerCommand(
  host: Host,
  { id: given, words }: { readonly id: string; readonly words: readonly string[] },
  options: AnswerOptions,
): Promise<void> {
  if (options.jsonValue !== undefined && words.length > 0) {
    throw new TuttiError("usage", "give the answer as text or with --json-value, not both");
  }
  const check = (reader: Reader): Promise<OpenAsk | OpenWait> => findOpen(reader, given, options.state);
  await withDaemon(host, { state: options.state, json: options.json, check }, async (tutti) => {
    const open = await findOpen(tutti, given, options.state);
    const { id } = open;
    const outcome = await giveAnswer(tutti, { open, words }, options);
    if (outcome === undefined) {
      note(`\ntutti: ${id} stays open`);
      process.exitCode = interruptedStatus;
      return;
    }
    refuseUnlessAccepted(open, outcome);
    await (options.json === true ? writeJson({ ask: id, accepted: true }) : writeLine(`${id} is answered`));
  });
}

async function findOpen(reader: Reader, given: string, state: string | undefined): Promise<OpenAsk | OpenWait> {
  const id = await findAsk(reader, given);
  const found = await findOpenAsk(reader, id);
  if (found !== undefined) return found;
  const list = commandLine(state, "asks");
  const message = `${id} is not open: it was answered, has expired or never existed; \`${list}\` lists what is open`;
  throw new TuttiError("not_found", message);
}

/** Undefined when the person left the prompt without an answer. */
async function giveAnswer(
  tutti: Tutti,
  { open, words }: { readonly open: OpenAsk | OpenWait; readonly words: readonly string[] },
  { jsonValue, state }: AnswerOptions,
): Promise<AnswerOutcome | undefined> {
  if (jsonValue !== undefined) return submitAnswer(tutti, open, answerInJson(open, jsonValue));
  if (words.length > 0) return submitText(tutti, open, words.join(" "));
  let asked = questionText(open, { width: widthOfScreen(standardError), state, who: await whoAsks(tutti, open) });
  for (;;) {
    const text = await typedAnswer(open, asked, state);
    if (text === undefined) return undefined;
    try {
      const outcome = await submitText(tutti, open, text);
      if (outcome?.accepted !== false || outcome.code !== "invalid") return outcome;
      note(`tutti: ${outcome.message}`);
    } catch (thrown) {
      const { code, message } = toTuttiError(thrown);
      if (code !== "invalid_input") throw thrown;
      note(`tutti: ${message}`);
    }
    asked = againText(open);
  }
}

async function submitText(tutti: Tutti, open: OpenAsk | OpenWait, text: string): Promise<AnswerOutcome | undefined> {
  const always = readAlways(open, text);
  if (always !== undefined) return (await isConfirmed(always)) ? allowAlways(tutti, open, always) : undefined;
  const parsed = parseAnswer(open, text);
  if (!parsed.ok) throw new TuttiError("invalid_input", parsed.message);
  return submitAnswer(tutti, open, parsed.value);
}

/** Without a terminal, whoever wrote the command has decided, and reads here what was written. */
async function isConfirmed(always: Always): Promise<boolean> {
  if (canAsk()) return isYes(await prompt(confirmText(always)));
  note(ruleText(always));
  return true;
}

/** An empty line means no, so without a terminal an answer must be given: nobody may say no by accident. */
async function typedAnswer(
  open: OpenAsk | OpenWait,
  asked: string,
  state: string | undefined,
): Promise<string | undefined> {
  if (canAsk()) return prompt(asked);
  throw new TuttiError("usage", `give the answer: ${commandLine(state, `answer ${open.id}`)} ${hintFor(open)}`);
}

function hintFor(open: OpenAsk | OpenWait): string {
  if (!("kind" in open)) return "TEXT, or --json-value JSON";
  if (open.kind !== "question") return alwaysOf(open) === undefined ? "y, or n" : "y, n, or a for always";
  return open.choices === undefined ? "TEXT" : open.choices.map((choice) => JSON.stringify(choice)).join(" | ");
}

/** Takes a plain value, or an answer as the API takes it. */
function answerInJson(open: OpenAsk | OpenWait, text: string): unknown {
  const read = readWrittenJson(text);
  if (!read.ok) throw new TuttiError("usage", `--json-value ${read.problem}`);
  const { value } = read;
  if (!("kind" in open)) return value;
  const answer = Answer.safeParse(value);
  if (answer.success && answer.data.kind === open.kind) return answer.data;
  if (open.kind === "question") return { kind: "question", value };
  if (typeof value !== "boolean") {
    throw new TuttiError("invalid_input", "this is a yes-or-no question; give true or false");
  }
  return open.kind === "budget" ? { kind: "budget", go_on: value } : { kind: "approval", approved: value };
}

const codes: Readonly<Record<"late" | "unknown" | "invalid", ErrorCode>> = {
  late: "conflict",
  unknown: "not_found",
  invalid: "invalid_input",
};

function refuseUnlessAccepted(open: OpenAsk | OpenWait, outcome: AnswerOutcome): void {
  if (outcome.accepted) return;
  const hint = outcome.code === "invalid" ? `; answer with ${hintFor(open)}` : "";
  throw new TuttiError(codes[outcome.code], `${outcome.message}${hint}`);
}
