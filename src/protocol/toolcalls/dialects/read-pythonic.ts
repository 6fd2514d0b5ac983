// Reads a reply that is a list of calls as in Python, the dialect of Llama 4 and Gemma 3, and the code blocks of Gemma.
import { skipSpace } from "../../white-space.ts";
import {
  bareName,
  broken,
  callObjectsAt,
  type DialectCall,
  type DialectReading,
  type DialectText,
  failed,
  matchAt,
  type Read,
} from "./dialect-reading.ts";
import { readPythonCalls } from "./python-calls.ts";
import type { CallRules } from "../read-call.ts";

const listHead = /\[\s*([A-Za-z_][\w.-]*)\s*\(\s*(?:\)|[A-Za-z_]\w*\s*(?:=(?!=)|$)|$)/y;

/** Whether the text at `at` begins a list of calls, the first one of a tool that is offered. */
export function beginsPythonList(text: string, at: number, { tools }: CallRules): boolean {
  const name = matchAt(listHead, text, at)?.[1];
  return name !== undefined && tools?.has(name) === true;
}

/** The list that begins at `at`. All its calls must be of tools that are offered. */
export function readPythonList(source: DialectText, at: number): DialectReading {
  const { text, rules } = source;
  const calls: DialectCall[] = [];
  let next = at;
  let end = at;
  while (next === at || text[next] === "[") {
    const list = readPythonCalls(text, next, { list: true });
    if (!list.ok) return broken(source, "pythonic", { fault: list.fault });
    for (const call of list.value) calls.push(call);
    end = list.end;
    next = skipSpace(text, end, text.length);
  }
  const unknown = calls.find((call) => rules.tools?.has(call.name) !== true);
  if (unknown !== undefined) {
    const detail = `there is no tool \`${unknown.name.slice(0, 60)}\``;
    return broken(source, "pythonic", { fault: { at, detail, eof: false } });
  }
  return { as: "calls", dialect: "pythonic", calls, end };
}

/** After `<|python_start|>`, the token of Llama 4. */
export function readPythonStart(source: DialectText, after: number): DialectReading | undefined {
  const { text, rules } = source;
  const closer = "<|python_end|>";
  const at = skipSpace(text, after, text.length);
  const list = text[at] === "[" && matchAt(/\[\s*[A-Za-z_]/y, text, at) !== undefined;
  const isObject = text[at] === "{" || text[at] === "[";
  if (!list && !isObject && matchAt(/[A-Za-z_][\w.]*\(/y, text, at) === undefined) return undefined;
  const read: Read<DialectCall[]> =
    isObject && !list ? callObjectsAt(source, at, ",;") : readPythonCalls(text, at, { list });
  if (!read.ok) return broken(source, "pythonic", { fault: read.fault, closer });
  const calls = read.value.map(({ name, args }) => ({ name: bareName(name, rules), args }));
  const next = skipSpace(text, read.end, text.length);
  const end = text.startsWith(closer, next) ? next + closer.length : read.end;
  return { as: "calls", dialect: "pythonic", calls, end };
}

/** The body of a `tool_code` block that holds Python instead of JSON. */
export function readCodeBody(
  text: string,
  body: { readonly from: number; readonly to: number },
  rules: CallRules,
): Read<DialectCall[]> | undefined {
  const from = skipSpace(text, body.from, body.to);
  const list = text[from] === "[";
  if (matchAt(/(?:\[\s*)?(?:print\s*\(\s*)?[A-Za-z_][\w.]*\s*\(/y, text, from) === undefined) return undefined;
  const read = readPythonCalls(text, from, { list, to: body.to });
  if (!read.ok) return read;
  const rest = skipSpace(text, read.end, body.to);
  if (rest < body.to) return failed(rest, "text follows the calls");
  return {
    ok: true,
    value: read.value.map(({ name, args }) => ({ name: bareName(name, rules), args })),
    end: read.end,
  };
}
