// The header with which a caller, or the node that passes its request on, says that a program asks.

import { z } from "zod";

import type { ProgramCaller } from "../../protocol/invocation/by-program.ts";
import { parseJson } from "../../protocol/json/parse-json.ts";
import type { KeyHolder } from "../state/api-keys.ts";

/** It takes rights away and gives none, so it is believed whoever sends it. */
export const programHeader = "tutti-program";

const Said = z.object({ over: z.enum(["HTTP", "MCP"]), folders: z.array(z.string()) });

export function programHeaderOf({ over, folders }: ProgramCaller): string {
  return encodeURIComponent(JSON.stringify({ over, folders }));
}

/** The program that uses the key; undefined when a person does. */
export function programWith(
  { name, person, may, folders }: KeyHolder,
  header: string | string[] | undefined,
): ProgramCaller | undefined {
  if (header === undefined) return person ? undefined : { key: name, over: "HTTP", may, folders };
  const said = Said.safeParse(parseJson(decoded(String(header))));
  const over = said.success ? said.data.over : "HTTP";
  // A person's key could open every folder, so the program that a person gave it to may name its own.
  const open = person ? (said.success ? said.data.folders : []) : folders;
  return { key: name, over, may, folders: open };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}
