// Follows the body of one block while it is being written: finds the call's name, then passes on its arguments piece by piece.
import type { Dialect } from "./dialect.ts";
import { skipSpace, trimSpace } from "../white-space.ts";

export interface StreamedCallRules {
  readonly dialect: Dialect;
  /** Registered tools; without them every name counts as registered. */
  readonly tools: ReadonlySet<string> | undefined;
  /** Called once, when the name is written. */
  readonly onName: (name: string) => void;
  /** Called with pieces of the arguments as they are written: together one JSON value, or the beginning of one. */
  readonly onArguments: (text: string) => void;
}

/** The name and the key of the arguments are expected within this many characters; later ones are not reported. */
const headLength = 200;

/**
 * Takes the next piece of the body, cut anywhere. Reports nothing of a call whose keys come in another order or whose name
 * is not the name of the tool that would run; such a call is known only once its block is complete.
 */
export function followCall(rules: StreamedCallRules): (piece: string) => void {
  const readName = /^\s*\{\s*"([a-z_]+)"\s*:\s*"([^"\\\n]+)"/;
  const readKey = /^\s*,\s*"([a-z_]+)"\s*:/;
  let awaiting: "name" | "key" | "value" | "end of value" | "nothing" = "name";
  let head = "";
  const value = valueScan();

  function readHead(pattern: RegExp): RegExpExecArray | undefined {
    const match = pattern.exec(head);
    if (match === null) {
      if (head.length > headLength) awaiting = "nothing";
      return undefined;
    }
    head = head.slice(match[0].length);
    return match;
  }

  return (piece) => {
    if (awaiting === "nothing") return;
    let rest = piece;
    if (awaiting === "name" || awaiting === "key") {
      head += piece;
      if (awaiting === "name") {
        const match = readHead(readName);
        if (match === undefined) return;
        const name = nameOf(match[1] ?? "", match[2] ?? "", rules);
        awaiting = name === undefined ? "nothing" : "key";
        if (name === undefined) return;
        rules.onName(name);
      }
      const key = readHead(readKey)?.[1];
      if (key === undefined) return;
      awaiting = rules.dialect.argsKeys.includes(key) ? "value" : "nothing";
      rest = head;
      head = "";
    }
    if (awaiting === "value") {
      const start = skipSpace(rest, 0, rest.length);
      if (start === rest.length) return;
      rest = rest.slice(start);
      awaiting = rest.startsWith("{") ? "end of value" : "nothing";
    }
    if (awaiting !== "end of value") return;
    const end = value(rest);
    if (end !== undefined) awaiting = "nothing";
    if (rest !== "") rules.onArguments(end === undefined ? rest : rest.slice(0, end));
  };
}

/** The name the call will have; undefined when only the whole call can tell. */
function nameOf(key: string, written: string, { dialect, tools }: StreamedCallRules): string | undefined {
  if (!dialect.nameKeys.includes(key)) return undefined;
  const cut = dialect.nameCut === undefined ? -1 : written.indexOf(dialect.nameCut);
  const name = trimSpace(cut > 0 ? written.slice(0, cut) : written);
  if (name === "" || (dialect.wrapperNames.includes(name) && tools?.has(name) !== true)) return undefined;
  return name;
}

/** Finds the end of a JSON object that comes in pieces: the index after its last brace, undefined while it is open. */
function valueScan(): (piece: string) => number | undefined {
  let depth = 0;
  let inString = false;
  let escaped = false;
  return (piece) => {
    for (let at = 0; at < piece.length; at += 1) {
      const code = piece.charCodeAt(at);
      if (escaped) escaped = false;
      else if (inString) {
        if (code === 0x5c) escaped = true;
        else if (code === 0x22) inString = false;
      } else if (code === 0x22) inString = true;
      else if (code === 0x7b) depth += 1;
      else if (code === 0x7d) {
        depth -= 1;
        if (depth === 0) return at + 1;
      }
    }
    return undefined;
  };
}
