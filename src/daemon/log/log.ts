// The log of the service: lines of JSON, or short ones for a person, from which secrets are taken before they are written.

import pino, { type Logger } from "pino";

import { type LineSink, openSink } from "./line-sink.ts";
import { personLine } from "./person-line.ts";

export type Log = Logger;

export const logLevels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];

export interface LogOptions {
  readonly level: LogLevel;
  /** Stderr when absent. */
  readonly file?: string;
  /** The file stderr may be, which is kept small then. */
  readonly stderrFile?: string;
  /** Short lines for a person instead of JSON. */
  readonly pretty?: boolean;
  /** Every line passes it as text, whatever it was made from. */
  readonly redact: (text: string) => string;
}

export interface OpenedLog {
  readonly log: Log;
  /** Everything that was logged before it is written; what comes after goes nowhere. */
  readonly close: () => void;
}

/** Headers that hold authority; said by place too, so that it does not matter whether their values are known. */
const headers = ["authorization", '["proxy-authorization"]', "cookie", '["set-cookie"]', '["x-api-key"]'];
const places = ["", "headers", "*.headers"].flatMap((where) =>
  headers.map((header) => (where === "" || header.startsWith("[") ? `${where}${header}` : `${where}.${header}`)),
);

/** Nothing that happens to the log, a full disk or a closed terminal, reaches whoever writes to it. */
export function openLog({ level, file, stderrFile, pretty = false, redact }: LogOptions): OpenedLog {
  const { sink, problem } = openSink({ file, stderrFile });
  const log = pino(
    {
      level,
      base: { pid: process.pid },
      formatters: { level: (label) => ({ level: label }) },
      serializers: { error: pino.stdSerializers.err },
      redact: { paths: places, censor: "[redacted]" },
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
    if (pretty) clean = personLine(clean);
  } catch {
    // Better no line than one that was not looked through.
    clean = `${JSON.stringify({ level: "error", time: Date.now(), msg: "a line of the log could not be written" })}\n`;
  }
  sink.write(clean);
}
