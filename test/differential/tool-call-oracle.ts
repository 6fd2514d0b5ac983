// What the fenced format says of a reply without reasoning tags, written from its text alone; it shares no code with the parser.
import { entriesOf, plain, readWritten, someIn, trimBlank, type Written } from "./written-value.ts";

export interface ExpectedCalls {
  readonly calls: readonly { readonly id: string; readonly name: string; readonly args: unknown }[];
  /** The reasons in the order of their blocks. */
  readonly errors: readonly string[];
  readonly violations: number;
  readonly prose: string;
}

type Block = { readonly call: { name: string; args: unknown } } | { readonly error: string };

export function expectedCalls(text: string): ExpectedCalls {
  const lines = text.split("\n").map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line));
  if (text.endsWith("\n") || text === "") lines.pop();
  const prose: string[] = [];
  const blocks: Block[] = [];
  let violations = 0;
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? "";
    const info = openerInfo(line);
    if (info === undefined) {
      prose.push(line);
      continue;
    }
    if (info === "json") violations += 1;
    const body: string[] = [];
    for (at += 1; at < lines.length && trimBlank(lines[at] ?? "") !== "```"; at += 1) body.push(lines[at] ?? "");
    blocks.push(readBody(trimBlank(body.join("\n"))));
  }
  const calls = blocks.flatMap((block) => ("call" in block ? [block.call] : []));
  return {
    calls: calls.map((call, index) => ({ id: `tc_${index}`, ...call })),
    errors: blocks.flatMap((block) => ("error" in block ? [block.error] : [])),
    violations,
    prose: trimBlank(prose.join("\n")),
  };
}

function openerInfo(line: string): "tool" | "json" | undefined {
  const trimmed = trimBlank(line);
  if (!trimmed.startsWith("```")) return undefined;
  const info = trimBlank(trimmed.slice(3));
  return info === "tool" || info === "json" ? info : undefined;
}

function readBody(body: string): Block {
  if (body === "") return { error: "unterminated" };
  const read = readWritten(body);
  if (!read.ok) return { error: read.early ? "unterminated" : "invalid_json" };
  const { value, end } = read;
  const rest = body.slice(end);
  const isScalar = value === null || typeof value === "boolean" || (typeof value === "object" && "number" in value);
  // A word or a number does not say itself where it ends.
  if (isScalar && rest !== "" && !' \n\t\r"[]{},:'.includes(rest.charAt(0))) return { error: "invalid_json" };
  if (trimBlank(rest) !== "") return { error: "expected_single_object" };
  return readCall(value);
}

function readCall(value: Written): Block {
  const entries = entriesOf(value);
  if (entries === undefined) return { error: "expected_single_object" };
  // Decided for Tutti (docs/tool-calls.md, "What is never run"): an integer that JavaScript cannot hold exactly.
  if (someIn(value, isInexact)) return { error: "inexact_integer" };
  const last = new Map(entries);
  const name = last.get("name");
  if (typeof name !== "string" || trimBlank(name) === "") return { error: "missing_name" };
  const args = last.get("args") ?? null;
  if (args !== null && entriesOf(args) === undefined) return { error: "args_not_object" };
  return { call: { name: trimBlank(name), args: args === null ? {} : plain(args) } };
}

function isInexact(value: Written): boolean {
  if (value === null || typeof value !== "object" || !("number" in value)) return false;
  return /^-?\d+$/.test(value.text) && BigInt(value.text) !== BigInt(value.number);
}
