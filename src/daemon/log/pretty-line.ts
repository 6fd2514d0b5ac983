// A line of the log as a person reads it on a terminal: time, level, message, and the other fields as key=value.

import { z } from "zod";

import { escapeControls } from "../../core/escape-controls.ts";
import { parseJson } from "../../protocol/json/parse-json.ts";

const LogLine = z.looseObject({ time: z.number(), level: z.string(), msg: z.string().default("") });
const LoggedError = z.object({ message: z.string(), stack: z.string() });

const shownApart = new Set(["time", "level", "msg", "pid"]);

/** A line that is not JSON of the log is returned as it is, in one line. */
export function prettyLine(json: string): string {
  const line = LogLine.safeParse(parseJson(json));
  if (!line.success) return `${oneLine(json)}\n`;
  const { time, level, msg } = line.data;
  const fields = Object.entries(line.data)
    .filter(([key]) => !shownApart.has(key))
    .map(([key, value]) => `${oneLine(key)}=${shown(value)}`);
  return `${[clockTime(time), level.padEnd(5), oneLine(msg), ...fields].filter((part) => part !== "").join(" ")}\n`;
}

function clockTime(time: number): string {
  const date = new Date(time);
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map((part) => String(part).padStart(2, "0")).join(":");
}

/** Of an error only the message is shown; its stack is in the log file. */
function shown(value: unknown): string {
  const error = LoggedError.safeParse(value);
  if (error.success) return oneLine(error.data.message);
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  return oneLine(typeof value === "string" && /[\s"=]/.test(value) ? JSON.stringify(text) : text);
}

/** Logged text may come from models and tools, which could imitate further lines. */
function oneLine(text: string): string {
  return escapeControls(text.trim().replaceAll(/[\r\n\t]+/g, " "));
}
