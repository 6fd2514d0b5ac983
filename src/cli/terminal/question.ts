// How a question is put to a person on a terminal, and what their words answer.
import type { OpenAsk, OpenWait } from "../../protocol/api/task-shapes.ts";
import { bold, dim } from "./output.ts";
import { printable } from "./printable.ts";

/** What is asked comes from models and tools: without its codes, and with its later lines indented, it cannot pass for ours. */
export function askText(ask: OpenAsk | OpenWait): string {
  if (!("kind" in ask)) return waitText(ask);
  const details = ask.details === undefined ? "" : `${dim(json(ask.details))}\n`;
  const choices = ask.choices === undefined ? "" : ` ${dim(`(${ask.choices.map(inset).join(" | ")})`)}`;
  const takes = ask.kind === "question" ? choices : ` ${dim("[y/N]")}`;
  return `${bold(inset(ask.question))}${takes}\n${details}> `;
}

function waitText({ call, label }: OpenWait): string {
  const wanted = call === undefined ? inset(label) : `Result of ${inset(call.tool_name)}`;
  const input = call === undefined ? "" : `${dim(json(call.input))}\n`;
  return `${bold(wanted)} ${dim("(JSON, or text)")}\n${input}> `;
}

type Heard = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly message: string };

/** Only a yes is a yes and only a no, or nothing, a no: a slip of the finger must not decide. */
export function answerFrom(ask: OpenAsk | OpenWait, said: string): Heard {
  const text = said.trim();
  if (!("kind" in ask)) return { ok: true, value: parsedOr(text) };
  if (ask.kind === "question") {
    return { ok: true, value: { kind: "question", value: ask.answer_schema === null ? text : parsedOr(text) } };
  }
  const { word, reason } = /^(?<word>y|yes|n|no|)(?:\s*:\s*(?<reason>[^]*))?$/i.exec(text)?.groups ?? {};
  const yes = word?.toLowerCase().startsWith("y") === true;
  const given = reason ?? "";
  if (word === undefined || (given !== "" && !/^n/i.test(word))) {
    return { ok: false, message: "answer y or n; a reason may follow a no, as in `n: too dear`" };
  }
  if (ask.kind === "budget") return { ok: true, value: { kind: "budget", go_on: yes } };
  return { ok: true, value: { kind: "approval", approved: yes, ...(given === "" ? {} : { reason: given }) } };
}

function inset(text: string): string {
  return printable(text).replaceAll("\n", "\n  ");
}

function json(value: unknown): string {
  return printable(JSON.stringify(value) ?? "");
}

function parsedOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
