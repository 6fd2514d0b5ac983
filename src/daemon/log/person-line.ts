// A line of the log as a person reads it on a terminal: time, level, what, and the rest as key=value.

import { z } from "zod";

const Line = z.looseObject({ time: z.number(), level: z.string(), msg: z.string().default("") });

const apart = new Set(["time", "level", "msg", "pid"]);

/** A line that is none of ours is given back as it is, without codes that move a cursor. */
export function personLine(json: string): string {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return `${oneLine(json)}\n`;
  }
  const line = Line.safeParse(value);
  if (!line.success) return `${oneLine(json)}\n`;
  const { time, level, msg } = line.data;
  const rest = Object.entries(line.data)
    .filter(([key]) => !apart.has(key))
    .map(([key, each]) => `${oneLine(key)}=${shown(each)}`);
  return `${[clockTime(time), level.padEnd(5), oneLine(msg), ...rest].filter((part) => part !== "").join(" ")}\n`;
}

function clockTime(time: number): string {
  const date = new Date(time);
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map((part) => String(part).padStart(2, "0")).join(":");
}

function shown(value: unknown): string {
  if (isError(value)) return oneLine(value.message);
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  return oneLine(typeof value === "string" && /[\s"=]/.test(value) ? JSON.stringify(text) : text);
}

/** As the log writes one; its stack is in the log file, not on the terminal. */
function isError(value: unknown): value is { readonly message: string } {
  return z.object({ message: z.string(), stack: z.string() }).safeParse(value).success;
}

/** What is logged may come from models and tools. */
function oneLine(text: string): string {
  return text.trim().replaceAll(/[\p{Cc}\u202a-\u202e\u2066-\u2069]+/gu, " ");
}
