// Tries a model with a few real calls: a reply, a tool, a long reply, thinking and a picture, and says what works and costs.

import { toTuttiError, TuttiError } from "../protocol/error.ts";
import {
  completeMessage,
  type CompleteMessage,
  type Message,
  messageText,
  type Part,
  userMessage,
} from "../protocol/task/message.ts";
import type { Usage } from "../protocol/task/budget.ts";
import type { Clock } from "../ports.ts";
import type { Model, ModelCallOptions, ModelFormat, ModelReply, ModelRequest } from "../model-port.ts";
import { addFenced, fencedSystem } from "./loop/fenced-form.ts";
import { readReply } from "./loop/read-reply.ts";

type TriedPart = "reply" | "tool" | "long reply" | "thinking" | "image";

export interface Tried {
  readonly part: TriedPart;
  /** `absent`: the model answered, but showed nothing of this kind. */
  readonly outcome: "works" | "absent" | "fails";
  /** What was seen, or what is wrong and what to do. */
  readonly said: string;
  readonly tookMs: number;
  readonly usage: Usage;
}

export interface TryOptions {
  readonly name: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Called as soon as each part was tried. */
  readonly onTried: (tried: Tried) => Promise<void> | void;
}

/** Tries all parts, one after the other. After a first reply that fails, nothing else is tried. */
export async function tryModel(model: Model, options: TryOptions): Promise<Tried[]> {
  const all: Tried[] = [];
  for (const [part, run] of parts) {
    const round = openRound(model, options);
    const started = options.clock.now();
    const result = await outcomeOf(() => run(round), options.signal);
    const tried: Tried = { part, ...result, tookMs: options.clock.now() - started, usage: round.used() };
    all.push(tried);
    await options.onTried(tried);
    if (part === "reply" && tried.outcome === "fails") break;
  }
  return all;
}

type Outcome = Pick<Tried, "outcome" | "said">;

async function outcomeOf(run: () => Promise<Outcome>, signal: AbortSignal): Promise<Outcome> {
  try {
    return await run();
  } catch (thrown) {
    if (signal.aborted) throw signal.reason;
    return { outcome: "fails", said: toTuttiError(thrown).message };
  }
}

interface Round {
  readonly format: ModelFormat;
  /** Whether the format may be changed when the server takes no tools. */
  readonly mayChange: boolean;
  readonly ask: (
    messages: readonly Message[],
    more?: Partial<ModelRequest>,
    options?: Partial<ModelCallOptions>,
  ) => Promise<ModelReply>;
  used(): Usage;
}

function openRound(model: Model, { name, signal }: TryOptions): Round {
  const facts = model.facts?.(name);
  let [input, output, money]: [number, number, number | null] = [0, 0, 0];
  return {
    format: facts?.format ?? "native",
    mayChange: facts?.formatMayChange === true,
    used: () => ({ input_tokens: input, output_tokens: output, money_micro_usd: money }),
    async ask(messages, more = {}, options = {}) {
      const request = { model: name, agent: "models test", system: "", tools: [], messages: whole(messages), ...more };
      const reply = await model.call(request, { signal, ...options });
      const { usage } = reply;
      input += usage.input_tokens;
      output += usage.output_tokens;
      money = money === null || usage.money_micro_usd === null ? null : money + usage.money_micro_usd;
      if (reply.finish === "refusal") {
        throw new TuttiError("refused", `the model refused to answer: ${shortened(messageText(reply.message))}`);
      }
      return reply;
    },
  };
}

function whole(messages: readonly Message[]): CompleteMessage[] {
  return messages.map((message, at) => completeMessage(message, { id: `try.${at}`, now: at }));
}

function shortened(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length > 80 ? `${line.slice(0, 80)}…` : line;
}

const works = (said: string): Outcome => ({ outcome: "works", said });
const absent = (said: string): Outcome => ({ outcome: "absent", said });
const fails = (said: string): Outcome => ({ outcome: "fails", said });

const parts: readonly (readonly [TriedPart, (round: Round) => Promise<Outcome>])[] = [
  ["reply", tryReply],
  ["tool", tryTool],
  ["long reply", tryLongReply],
  ["thinking", tryThinking],
  ["image", tryImage],
];

async function tryReply({ ask }: Round): Promise<Outcome> {
  const { message, finish } = await ask([userMessage("Reply with the single word: ready")]);
  const text = messageText(message);
  return text.trim() === "" ? fails(`the reply has no text (${finish})`) : works(JSON.stringify(shortened(text)));
}

const add = {
  name: "add",
  description: "Adds two numbers and returns the sum.",
  parameters: {
    type: "object",
    properties: { a: { type: "number" }, b: { type: "number" } },
    required: ["a", "b"],
  },
};

/** The sum is not the real one, so that only a model that reads the result can know it. */
const sum = "1742";

async function tryTool(round: Round): Promise<Outcome> {
  try {
    return await callTool(round, round.format);
  } catch (thrown) {
    const refused = thrown instanceof TuttiError && thrown.details?.["reason"] === "no_tools";
    if (!refused || !round.mayChange || round.format === "fenced") throw thrown;
    const { outcome, said } = await callTool(round, "fenced");
    return { outcome, said: `${said}; the server takes no tools, so the calls are in the text` };
  }
}

async function callTool({ ask }: Round, format: ModelFormat): Promise<Outcome> {
  const asked = userMessage("Call the tool `add` with a = 17 and b = 25, then tell me exactly what it returned.");
  const system = "You use tools when you are asked to.";
  const more: Partial<ModelRequest> =
    format === "native" ? { system, tools: [add], format } : { system: fencedSystem(system, [add]), format };
  const first = await ask([asked], more);
  const read = readReply(first, { format, toolNames: new Set([add.name]) }, "try").parts;
  const call = read.flatMap((part) => (part.part_type === "tool_call" ? [part.data] : []))[0];
  if (call === undefined) return fails(`no call came, but: ${JSON.stringify(shortened(messageText(first.message)))}`);
  const { tool_call_id, tool_name } = call;
  const result: Part = {
    part_type: "tool_result",
    data: { tool_call_id, tool_name, parts: [{ part_type: "text", data: sum }] },
  };
  const history = whole([asked, { ...first.message, parts: read }, { name: null, role: "tool", parts: [result] }]);
  const formatted: CompleteMessage[] = [];
  if (format === "fenced") addFenced(formatted, history);
  else formatted.push(...history);
  const second = await ask(formatted, more);
  const text = messageText(second.message);
  const seen = `${format} call ${JSON.stringify(call.input)}`;
  return text.includes(sum) ? works(`${seen}, and its result was read`) : fails(`${seen}, but the result was not read`);
}

const count = 400;

async function tryLongReply({ ask }: Round): Promise<Outcome> {
  const text = `Write the whole numbers from 1 to ${count}, separated by spaces, and nothing else. Leave none out.`;
  const { message, finish, usage } = await ask([userMessage(text)]);
  const numbers = messageText(message).match(/\d+/g)?.length ?? 0;
  if (finish === "length")
    return fails(`cut after ${usage.output_tokens} tokens; raise \`max_output_tokens\` of the model in the config`);
  const seen = `${numbers} of ${count} numbers in ${usage.output_tokens} tokens`;
  return numbers >= count * 0.9 ? works(seen) : fails(seen);
}

async function tryThinking({ ask }: Round): Promise<Outcome> {
  let thought = "";
  const notices: string[] = [];
  const text =
    "A bat and a ball cost 1.10 together. The bat costs 1.00 more than the ball. What does the ball cost? Think first.";
  const options = {
    onReasoning: (piece: string) => void (thought += piece),
    onNotice: (notice: string) => void notices.push(notice),
  };
  await ask([userMessage(text)], { effort: "low" }, options);
  if (thought.trim() !== "") return works(`${JSON.stringify(shortened(thought))}`);
  return absent(notices[0] ?? "the reply came without thinking that is shown");
}

/** A square in one colour. */
const redSquare =
  "iVBORw0KGgoAAAANSUhEUgAAACAAAAAgCAIAAAD8GO2jAAAAKklEQVR42mN4ICBAU8QwasGoBaMWjFowasGoBaMWjFowasGoBaMWDBULALgcAD3G45K4AAAAAElFTkSuQmCC";

async function tryImage({ ask }: Round): Promise<Outcome> {
  const image: Part = {
    part_type: "image",
    data: { type: "bytes", bytes: redSquare, mime_type: "image/png", name: "square.png" },
  };
  const { message } = await ask([
    {
      name: null,
      role: "user",
      parts: [{ part_type: "text", data: "Which colour is this picture? Answer in one word." }, image],
    },
  ]);
  const text = messageText(message);
  return /red/i.test(text)
    ? works(JSON.stringify(shortened(text)))
    : fails(`a red picture was seen as ${JSON.stringify(shortened(text))}`);
}
