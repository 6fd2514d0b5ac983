// Reads the messages of OpenAI's harmony format, which open models send as channels: reasoning, calls and the answer.
import { skipSpace } from "../../white-space.ts";
import { bareName, broken, cutFault, type DialectReading, type DialectText, objectAt } from "./dialect-reading.ts";

const messageToken = "<|message|>";
const ends = ["<|end|>", "<|return|>", "<|call|>", "<|start|>", "<|channel|>"];
/** A longer header is none. */
const longestHeader = 200;
/** Tokens and words only: the text before `<|message|>`, whole or cut. */
const headerShape = /^(?:<\|(?:start|channel|constrain)\|>|[\w.:=\s-])*(?:<[|\w]*)?$/;

/** `at` is on the token that begins the header of a message. */
export function readHarmony(source: DialectText, at: number): DialectReading | undefined {
  const { text, rules } = source;
  const around = text.slice(at, at + longestHeader);
  const length = around.indexOf(messageToken);
  const head = length === -1 ? around : around.slice(0, length);
  if (!headerShape.test(head)) return undefined;
  // The recipient may stand before the channel or after it.
  const recipient = /(?:^|[\s>]|assistant)to=([^\s<]+)/.exec(head)?.[1];
  if (length === -1) {
    if (around.length === longestHeader || recipient === undefined) return undefined;
    return broken(source, "harmony", { fault: { at: text.length, detail: "the reply ends inside it", eof: true } });
  }
  const from = at + length + messageToken.length;
  if (recipient === undefined) {
    source.harmony = true;
    if (!head.includes("<|channel|>analysis")) return { as: "markup", dialect: "harmony", end: from };
    const to = Math.min(...ends.map((token) => source.find(token, from)));
    const token = ends.slice(0, 2).find((each) => text.startsWith(each, to)) ?? "";
    return { as: "reasoning", dialect: "harmony", from, to, end: to + token.length };
  }
  const content = skipSpace(text, from, text.length);
  const isEmpty = text.startsWith("<|call|>", content);
  const args = isEmpty ? { ok: true as const, value: {}, end: content } : objectAt(text, content);
  if (!args.ok) return broken(source, "harmony", { fault: args.fault, closer: "<|call|>" });
  const next = skipSpace(text, args.end, text.length);
  // `<|call|>` ends the generation, so most servers do not send it.
  const closer = ends.find((token) => text.startsWith(token, next));
  const calls = [{ name: bareName(recipient, rules), args: args.value }];
  if (closer === "<|start|>" || closer === "<|channel|>") return { as: "calls", dialect: "harmony", calls, end: next };
  if (closer !== undefined) return { as: "calls", dialect: "harmony", calls, end: next + closer.length };
  const eof = next === text.length || "<|call|>".startsWith(text.slice(next, next + 8));
  if (eof && !source.cut) return { as: "calls", dialect: "harmony", calls, end: text.length };
  const fault = { at: next, detail: eof ? cutFault : "text follows its JSON object", eof };
  return broken(source, "harmony", { fault, closer: "<|call|>" });
}
