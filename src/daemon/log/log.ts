// The daemon's log: lines of JSON, or short lines for a person. Secrets are removed before a line is written.

import pino, { type Logger } from "pino";

import { escapeControls } from "../../core/escape-controls.ts";
import { type LineSink, openSink } from "./line-sink.ts";
import { prettyLine } from "./pretty-line.ts";

export type Log = Logger;

export const logLevels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];

export interface LogOptions {
  readonly level: LogLevel;
  /** Stderr if absent. */
  readonly file?: string;
  /** If stderr is this file, its size is bounded. */
  readonly stderrFile?: string;
  /** Short lines for a person instead of JSON. */
  readonly pretty?: boolean;
  /** Removes secrets. Applied to the text of every line, whatever fields it was made from. */
  readonly redact: (text: string) => string;
}

export interface OpenedLog {
  readonly log: Log;
  /** What is logged after this is not written. */
  readonly close: () => void;
}

/** Headers that hold credentials. They are removed by their name too, because their values may be unknown. */
const secretHeaders = ["authorization", '["proxy-authorization"]', "cookie", '["set-cookie"]', '["x-api-key"]'];
const secretPaths = ["", "headers", "*.headers"].flatMap((parent) =>
  secretHeaders.map((header) =>
    parent === "" || header.startsWith("[") ? `${parent}${header}` : `${parent}.${header}`,
  ),
);

/** Logging never throws, not even if the disk is full or the terminal is closed. */
export function openLog({ level, file, stderrFile, pretty = false, redact }: LogOptions): OpenedLog {
  const { sink, problem } = openSink({ file, stderrFile });
  const log = pino(
    {
      level,
      base: { pid: process.pid },
      formatters: { level: (label) => ({ level: label }) },
      serializers: { error: pino.stdSerializers.err },
      redact: { paths: secretPaths, censor: "[redacted]" },
    },
    { write: (line) => write(sink, line, { pretty, redact }) },
  );
  if (problem !== undefined) log.warn({ file, problem }, "the log file cannot be used; logging to stderr");
  return { log, close: () => sink.close() };
}

function write(
  sink: LineSink,
  line: string,
  { pretty, redact }: Required<Pick<LogOptions, "pretty" | "redact">>,
): void {
  let clean: string;
  try {
    clean = redact(line);
    // The line may be looked at on a terminal, also later in the file. JSON keeps its value.
    clean = pretty ? prettyLine(clean) : escapeControls(clean);
  } catch {
    // A line that could not be redacted is not written.
    clean = `${JSON.stringify({ level: "error", time: Date.now(), msg: "a line of the log could not be written" })}\n`;
  }
  sink.write(clean);
}
