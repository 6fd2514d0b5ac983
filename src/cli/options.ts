// Options that several commands have, and how their values are read.
import { InvalidArgumentError, Option } from "commander";

import { defaultLimit } from "./input.ts";

export const stateOption = (): Option =>
  new Option("--state <folder>", "where the state is kept; $TUTTI_STATE or ~/.tutti when absent");
export const jsonOption = (): Option => new Option("--json", "print the result as one JSON object");
export const jsonLinesOption = (): Option => new Option("--json", "print one JSON object per line");
export const jsonlOption = (shape: string): Option =>
  new Option(
    "--jsonl",
    `batch: one ${shape} per line in the file or on standard input, one result per line out, in order`,
  );
export const limitOption = (): Option =>
  new Option("--limit <bytes>", "refuse an input larger than this").argParser(positive).default(defaultLimit);

export function list(text: string): string[] {
  return text
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
}

export function positive(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value <= 0) throw new InvalidArgumentError("It must be a whole number above 0.");
  return value;
}

export function port(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value > 65_535) throw new InvalidArgumentError("It must be a port, 0 to 65535.");
  return value;
}

const longestGrace = 600;

export function seconds(text: string): number {
  const value = Number(text);
  if (!/^\d+(\.\d+)?$/.test(text) || value > longestGrace) {
    throw new InvalidArgumentError(`It must be a number of seconds, at most ${longestGrace}.`);
  }
  return value;
}
