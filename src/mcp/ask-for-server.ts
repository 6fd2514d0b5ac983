// Puts what a server wants from a person to a person, as an ask of the task whose call is running.

import { z } from "zod";

import { outputCheck } from "../agent/loop/output-schema.ts";
import { inLine, quoted } from "../core/foreign-words.ts";
import type { RunningStep, StepContext } from "../ports.ts";
import { Answer } from "../protocol/task/ask.ts";
import type { Elicitation, Elicited } from "./mcp-connection.ts";

const longestMessage = 8_000;
const longestUrl = 4_000;
const longestSchema = 16_000;
/** How often a server may ask during one call. Whatever it asks beyond is declined, and nobody sees it. */
const mostAsks = 10;
/** How often each step has asked: a step that is repeated finds its answers under the same keys. */
const asked = new WeakMap<object, number>();

const Form = z.object({ properties: z.record(z.string(), z.looseObject({ default: z.unknown() })) });

type AskingStep = Pick<StepContext, "signal"> & { readonly during?: Pick<RunningStep["during"], "ask"> };

/** The server's words are shown as the server's, and nothing but the answer goes back. */
export async function askPerson(server: string, wanted: Elicitation, step: AskingStep): Promise<Elicited> {
  const { during, signal } = step;
  if (during === undefined || !isBounded(wanted)) return { action: "decline" };
  const said = wanted.message.slice(0, longestMessage);
  const count = (asked.get(during) ?? 0) + 1;
  if (count > mostAsks) return { action: "decline" };
  asked.set(during, count);
  const key = `mcp.${count}`;
  if (wanted.url !== undefined) {
    const question = [
      `The MCP server ${inLine(server)} asks you to open an address. Have you done it? Answer no if you did not expect this.`,
      "address:",
      quoted(wanted.url),
      "the server says:",
      quoted(said),
    ].join("\n");
    const ask = { kind: "approval" as const, question, details: { server, url: wanted.url } };
    const waited = await during.ask(key, { ask, schema: Answer, signal });
    if ("expired" in waited) return { action: "cancel" };
    return waited.value.kind === "approval" && waited.value.approved ? { action: "accept" } : { action: "decline" };
  }
  const schema = wanted.schema ?? { type: "object" };
  const question = [
    `The MCP server ${inLine(server)} asks you something. Answer with JSON that fits the schema, or with null to tell it nothing. Give it no secret that you would not give its author.`,
    "the server says:",
    quoted(said),
  ].join("\n");
  const ask = { kind: "question" as const, question, details: { server }, answer_schema: { ...schema } };
  const waited = await during.ask(key, { ask, schema: Answer, signal });
  if ("expired" in waited) return { action: "cancel" };
  const given = waited.value.kind === "question" ? waited.value.value : null;
  const answered = typeof given === "string" ? jsonOf(given) : given;
  if (!isContent(answered)) return { action: "decline" };
  // What the person leaves out is as the form proposes it.
  const content = { ...defaultsIn(schema), ...answered };
  return fits(schema, content) ? { action: "accept", content } : { action: "decline" };
}

/** @internal Exported for its tests only. */
export function defaultsIn(schema: Readonly<Record<string, unknown>>): Content {
  const { properties } = Form.safeParse(schema).data ?? { properties: {} };
  const proposed = Object.entries(properties).map(([name, field]) => [name, field.default]);
  const defaults: unknown = Object.fromEntries(proposed.filter(([, value]) => isPlain(value)));
  return isContent(defaults) ? defaults : {};
}

/** What is asked is recorded and shown, so a server must not make it as long as it likes; and only web pages are to be opened. */
function isBounded({ url, schema }: Elicitation): boolean {
  if (url !== undefined && (url.length > longestUrl || !/^https?:\/\//i.test(url))) return false;
  return schema === undefined || JSON.stringify(schema).length <= longestSchema;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function fits(schema: Readonly<Record<string, unknown>>, content: unknown): boolean {
  try {
    return outputCheck(schema)(content).length === 0;
  } catch {
    return false;
  }
}

type Content = Record<string, string | number | boolean | string[]>;

function isContent(value: unknown): value is Content {
  return typeof value === "object" && value !== null && !Array.isArray(value) && Object.values(value).every(isPlain);
}

function isPlain(value: unknown): boolean {
  if (Array.isArray(value)) return value.every((each) => typeof each === "string");
  return ["string", "number", "boolean"].includes(typeof value);
}
