// What a session's request for permission stands for, what a person is shown of it, and which of the offered options answers it.

import { isAbsolute, resolve } from "node:path";

import type { CallEffect } from "../../core/approval.ts";
import { escapeInvisible } from "../../core/escape-invisible.ts";
import { unifiedDiff } from "../../core/unified-diff.ts";
import type { Effect } from "../../protocol/invocation/approval-policy.ts";
import { quoted, shownLines } from "../../agent/tools/call-look.ts";
import { diffsIn, type PermissionOption, type ToolCallUpdate } from "./acp-frames.ts";

/** A program that the agent starts has the network of the session. */
const anything: readonly Effect[] = ["write", "execute", "network"];

const effectsOfKind: Readonly<Record<string, readonly Effect[]>> = {
  read: ["read"],
  search: ["read"],
  think: ["read"],
  edit: ["write"],
  delete: ["write"],
  move: ["write"],
  execute: ["execute", "network"],
  fetch: ["network"],
};

/** By kind, and wider where the request shows more than its kind says. Title and arguments never make it narrower. */
export function effectsOf(call: ToolCallUpdate): Effect[] {
  const { kind, content } = call;
  const known = typeof kind === "string" && Object.hasOwn(effectsOfKind, kind) ? effectsOfKind[kind] : undefined;
  const effects = new Set<Effect>(known ?? anything);
  if (diffsIn(call).length > 0) effects.add("write");
  const runs = (content ?? []).some(({ type }) => type === "terminal") || commandIn(call.rawInput) !== undefined;
  if (runs) for (const effect of ["execute", "network"] as const) effects.add(effect);
  return [...effects];
}

/** The files that the request names. */
export function pathsOf(call: ToolCallUpdate, cwd: string): string[] {
  const named = [...diffsIn(call).map(({ path }) => path), ...(call.locations ?? []).map(({ path }) => path)];
  return [...new Set(named.map((path) => (isAbsolute(path) ? path : resolve(cwd, path))))];
}

function commandIn(input: unknown): string | undefined {
  const { command, cmd }: { command?: unknown; cmd?: unknown } = Object(input);
  const given = command ?? cmd;
  if (typeof given === "string") return given;
  return Array.isArray(given) ? given.map(String).join(" ") : undefined;
}

export interface Asked {
  readonly agent: string;
  readonly profile: string;
  readonly call: ToolCallUpdate;
  readonly effect: CallEffect;
  readonly protectedFiles: readonly string[];
}

const verbs: Record<Effect, string> = {
  read: "read",
  write: "change files",
  execute: "run a program",
  network: "use the network",
  protected: "change a protected file",
};

/** All of it comes from the session, so every line of it is quoted and nothing of it is hidden without a count. */
export function permissionQuestion({ agent, profile, call, effect, protectedFiles }: Asked): string {
  const what = effect.effects.map((name) => verbs[name]).join(", ");
  const reach = effect.confined ? "confined to the task's folders" : "not confined to the task's folders";
  const command = commandIn(call.rawInput);
  const lines = [
    `May the session of ${escapeInvisible(agent)} (${escapeInvisible(profile)}) go on? It can ${what}; ${reach}.`,
    ...(typeof call.title === "string" ? ["the session says:", quoted(call.title)] : []),
    ...(command === undefined ? [] : ["command:", quoted(command)]),
    ...(call.locations ?? []).map(({ path }) => `file: ${escapeInvisible(path)}`),
    ...protectedFiles.map((path) => `protected: ${escapeInvisible(path)} can make other programs run code`),
    ...diffsIn(call).flatMap(({ path, oldText, newText }) => [
      `change of ${escapeInvisible(path)}:`,
      ...shownLines(unifiedDiff(oldText ?? "", newText)),
    ]),
    ...(command === undefined && diffsIn(call).length === 0 ? argumentLines(call.rawInput) : []),
  ];
  return lines.join("\n");
}

function argumentLines(input: unknown): string[] {
  if (input === undefined || input === null) return [];
  return ["arguments:", ...shownLines(quoted(JSON.stringify(input, undefined, 2)).split("\n"))];
}

type Outcome = { readonly outcome: "selected"; readonly optionId: string } | { readonly outcome: "cancelled" };

/** Never for good: an agent that only offers "always" gets a no. */
export function optionFor(options: readonly PermissionOption[], allowed: boolean): Outcome {
  const kinds = allowed ? ["allow_once"] : ["reject_once", "reject_always"];
  for (const kind of kinds) {
    const found = options.find((option) => option.kind === kind);
    if (found !== undefined) return { outcome: "selected", optionId: found.optionId };
  }
  return allowed ? optionFor(options, false) : { outcome: "cancelled" };
}
