// How a question is put to a person on a terminal, and what their words answer.
import type { OpenAsk, OpenWait } from "../client/client.ts";
import { bold, dim } from "./output.ts";

export function askText(ask: OpenAsk | OpenWait): string {
  if (!("kind" in ask)) return `${bold(`Result of ${ask.label}`)} ${dim("(JSON, or text)")}\n> `;
  const details = ask.details === undefined ? "" : `${dim(JSON.stringify(ask.details))}\n`;
  if (ask.kind === "question") {
    const choices = ask.choices === undefined ? "" : ` ${dim(`(${ask.choices.join(" | ")})`)}`;
    return `${bold(ask.question)}${choices}\n${details}> `;
  }
  return `${bold(ask.question)} ${dim("[y/N]")}\n${details}> `;
}

/** Anything but a yes is a no. */
export function answerFrom(ask: OpenAsk | OpenWait, said: string): unknown {
  const text = said.trim();
  if (!("kind" in ask)) return parsedOr(text);
  const yes = /^y(es)?$/i.test(text);
  if (ask.kind === "approval")
    return { kind: "approval", approved: yes, ...(yes || text === "" ? {} : { reason: text }) };
  if (ask.kind === "budget") return { kind: "budget", go_on: yes };
  return { kind: "question", value: ask.answer_schema === null ? text : parsedOr(text) };
}

function parsedOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
