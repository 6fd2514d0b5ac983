// Writes the script that a rehearsal plays in place of a model: what an agent says and calls, reply by reply.

import { RehearsalScript } from "../../protocol/invocation/rehearsal-script.ts";
import { TuttiError } from "../../protocol/error.ts";
import { describeIssues, issuesOf } from "../../protocol/lenient-read.ts";
import type { ScriptedModel } from "../code-agent.ts";

/** One reply. Any rule of a rehearsal fits too, without its `turn`. */
export type ScriptedTurn = Readonly<Record<string, unknown>>;

/** The reply says this and ends the task, unless it is part of a turn with calls. */
export function say(text: string): ScriptedTurn {
  return { say: text };
}

/** The reply calls a tool. */
export function call(tool: string, args: unknown = {}): ScriptedTurn {
  return { call: [{ tool, args }] };
}

/** The reply ends the task with this result. */
export function final(content: unknown): ScriptedTurn {
  return { final: content };
}

/** The model fails, as it does when its provider cannot be reached. */
export function fails(code: string, message?: string): ScriptedTurn {
  return { fail: { code, ...(message === undefined ? {} : { message }) } };
}

/**
 * A model for `agent` that gives these replies in order. A list is one reply that does everything in it, such as two calls.
 * A script in the full form, `{rules: […]}`, is played as it is. Throws `invalid_input` for one that cannot be played.
 */
export function script(...turns: readonly (string | ScriptedTurn | readonly ScriptedTurn[])[]): ScriptedModel {
  const [only] = turns;
  const full = turns.length === 1 && typeof only === "object" && "rules" in only ? only : undefined;
  const given = full ?? { rules: turns.map((turn, index) => ({ turn: index, ...ruleOf(turn) })) };
  const read = RehearsalScript.safeParse(given);
  if (!read.success) {
    throw new TuttiError("invalid_input", `the script cannot be played: ${describeIssues(issuesOf(read.error))}`);
  }
  return { kind: "script", script: read.data };
}

function ruleOf(turn: string | ScriptedTurn | readonly ScriptedTurn[]): ScriptedTurn {
  if (typeof turn === "string") return say(turn);
  if (!isList(turn)) return turn;
  const calls = turn.flatMap((each) => (Array.isArray(each["call"]) ? each["call"] : []));
  return Object.assign({}, ...turn, calls.length === 0 ? {} : { call: calls });
}

function isList(turn: ScriptedTurn | readonly ScriptedTurn[]): turn is readonly ScriptedTurn[] {
  return Array.isArray(turn);
}
