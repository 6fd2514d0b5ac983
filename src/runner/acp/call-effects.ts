// What a session's request for permission can do at most: by its kind, and wider where it shows more than its kind says.

import { isAbsolute, resolve } from "node:path";

import type { JudgedCall } from "../../core/approval.ts";
import type { Effect } from "../../protocol/invocation/approval-policy.ts";
import { diffsIn, type ToolCallUpdate } from "./acp-frames.ts";

/** A program that the agent starts has the network of the session. */
const running: readonly Effect[] = ["execute", "network"];
const anything: readonly Effect[] = ["write", ...running];

/** The kinds of the protocol. Any other counts as `other`, so that no request can take the rule of another tool. */
const effectsOfKind: ReadonlyMap<string, readonly Effect[]> = new Map([
  ["read", ["read"]],
  ["search", ["read"]],
  ["think", ["read"]],
  ["edit", ["write"]],
  ["delete", ["write"]],
  ["move", ["write"]],
  ["execute", running],
  ["fetch", ["network"]],
  ["switch_mode", anything],
  ["other", anything],
]);

/**
 * The request as the calls that rules are about: what its kind says, a change that it shows, a program that it names.
 * Each is judged by its own rule and the strictest decides, so a rule that frees one kind frees nothing else.
 */
export function judgedCalls(call: ToolCallUpdate, { confined, isProtected }: CallReach): [JudgedCall, ...JudgedCall[]] {
  const { kind, content, rawInput } = call;
  const known = typeof kind === "string" && effectsOfKind.has(kind) ? kind : "other";
  const judged = (name: string): JudgedCall => {
    const effects = effectsOfKind.get(name) ?? anything;
    return { tool: `acp.${name}`, effect: { effects: isProtected ? [...effects, "protected"] : effects, confined } };
  };
  const changes = diffsIn(call).length > 0;
  const runs = (content ?? []).some(({ type }) => type === "terminal") || namesProgram(rawInput);
  const shown = [...(changes ? ["edit"] : []), ...(runs ? ["execute"] : [])];
  return [judged(known), ...shown.filter((name) => name !== known).map(judged)];
}

export interface CallReach {
  readonly confined: boolean;
  readonly isProtected: boolean;
}

export function effectsOf(calls: readonly JudgedCall[]): Effect[] {
  return [...new Set(calls.flatMap(({ effect }) => effect.effects))];
}

/** The files that the request names. */
export function pathsOf(call: ToolCallUpdate, cwd: string): string[] {
  const named = [...diffsIn(call).map(({ path }) => path), ...(call.locations ?? []).map(({ path }) => path)];
  return [...new Set(named.map((path) => fullPath(path, cwd)))];
}

export function fullPath(path: string, cwd: string): string {
  return isAbsolute(path) ? path : resolve(cwd, path);
}

/** Arguments with which a program is started, at any depth. They only ever make a request count as more. */
const ofPrograms = /^(?:commands?|cmd|argv|script|shell|exec|env|environment)$|sandbox/i;

function namesProgram(input: unknown): boolean {
  if (typeof input !== "object" || input === null) return false;
  return Object.entries(input).some(
    ([name, value]) => (!Array.isArray(input) && ofPrograms.test(name)) || namesProgram(value),
  );
}
