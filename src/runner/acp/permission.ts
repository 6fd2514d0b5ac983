// What a person is shown of a session's request for permission, and which of the offered options answers it.

import type { JudgedCall } from "../../core/approval.ts";
import { inLine, quoted, quotedCommand } from "../../core/foreign-words.ts";
import { unifiedDiff } from "../../core/unified-diff.ts";
import { shownLines } from "../../agent/tools/call-look.ts";
import { allLines } from "../../agent/tools/file-look.ts";
import type { Effect } from "../../protocol/invocation/approval-policy.ts";
import {
  type Diff,
  diffsIn,
  type PermissionOption,
  type PermissionRequest,
  type ToolCallUpdate,
} from "./acp-frames.ts";
import { argumentText, isHow } from "./argument-text.ts";
import { effectsOf } from "./call-effects.ts";
import { type FileChange, shownChange } from "./file-change.ts";

/** A change that the request tells, and what it is on the disk; absent where that has something else. */
export interface ToldChange {
  readonly diff: Diff;
  readonly change: FileChange | undefined;
}

export interface Asked {
  readonly agent: string;
  readonly profile: string;
  readonly call: ToolCallUpdate;
  readonly calls: readonly JudgedCall[];
  readonly confined: boolean;
  readonly protectedFiles: readonly string[];
  readonly changes: readonly ToldChange[];
  readonly request: Pick<PermissionRequest, "options"> & Readonly<Record<string, unknown>>;
}

const verbs: Record<Effect, string> = {
  read: "read",
  write: "change files",
  execute: "run a program",
  network: "use the network",
  protected: "change a protected file",
};

export interface PermissionText {
  readonly question: string;
  /** Those of which nothing is hidden. */
  readonly whole: readonly FileChange[];
}

/** All of it comes from the session, so every line of it is quoted and nothing of it is hidden without a count. */
export function permissionText(asked: Asked): PermissionText {
  const { agent, profile, call, confined, protectedFiles } = asked;
  const effects = effectsOf(asked.calls);
  const reach = confined ? "confined to the task's folders" : "not confined to the task's folders";
  // One line in the middle is enough to do harm where something is run.
  const shown = effects.some((name) => name !== "read" && name !== "write") ? allLines : shownLines;
  const changes = asked.changes.map((told) => changeLines(told, protectedFiles.length > 0 ? allLines : shownLines));
  const lines = [
    `May the session of ${inLine(agent)} (${inLine(profile)}) go on? It can ${effects.map((name) => verbs[name]).join(", ")}; ${reach}.`,
    ...(typeof call.title === "string" ? ["the session says:", quoted(call.title)] : []),
    ...inputLines(call, shown),
    ...(call.locations ?? []).map(({ path, line }) => `file: ${inLine(path)}${lineText(line)}`),
    ...protectedFiles.map((path) => `protected: ${inLine(path)} can make other programs run code`),
    ...changes.flatMap(({ lines: each }) => each),
    ...contentLines(call, shown),
    ...restLines(asked, shown),
    ...optionLine(asked.request.options),
  ];
  return { question: lines.join("\n"), whole: changes.flatMap(({ whole }) => whole) };
}

function lineText(line: unknown): string {
  return typeof line === "number" ? `, line ${line}` : "";
}

const nothing: ReadonlyMap<string, string> = new Map();

type Lines = (lines: readonly string[]) => string[];

/** First what changes how something is run, then what is run, then the rest. */
function inputLines(call: ToolCallUpdate, shown: Lines): string[] {
  const { rawInput: input } = call;
  if (input === undefined || input === null) return [];
  // Whole files stand in the change below; what is run always stands here itself.
  const known = shown === shownLines ? textsOfChanges(call) : nothing;
  const block = (title: string, value: unknown): string[] => [
    title,
    ...shown(quoted(argumentText(value, known)).split("\n")),
  ];
  if (typeof input !== "object" || Array.isArray(input)) return block("arguments:", input);
  const entries = Object.entries(input);
  const commands = entries.flatMap(([name, value]) => {
    const text = isCommandName(name) ? commandText(value) : undefined;
    return text === undefined ? [] : [{ name, text }];
  });
  const others = entries.filter(([name]) => !commands.some((command) => command.name === name));
  const how = others.filter(([name, value]) => commands.length > 0 && isHow(name, value));
  const rest = others.filter((entry) => !how.includes(entry));
  return [
    ...(how.length === 0 ? [] : block("arguments that change how it runs:", Object.fromEntries(how))),
    ...commands.flatMap(({ text }) => ["command:", text]),
    ...(rest.length === 0
      ? []
      : block(commands.length > 0 ? "other arguments:" : "arguments:", Object.fromEntries(rest))),
  ];
}

function textsOfChanges(call: ToolCallUpdate): ReadonlyMap<string, string> {
  const known = new Map<string, string>();
  for (const { oldText, newText } of diffsIn(call)) {
    if (oldText?.includes("\n") === true) known.set(oldText, "(the old text of a change below)");
    if (newText.includes("\n")) known.set(newText, "(the new text of a change below)");
  }
  return known;
}

function isCommandName(name: string): boolean {
  return name === "command" || name === "cmd";
}

/** Quoted. What is no list of words is an argument like any other. */
function commandText(given: unknown): string | undefined {
  if (typeof given === "string") return quoted(given);
  const words = Array.isArray(given) ? given.filter((word) => typeof word === "string") : [];
  return Array.isArray(given) && words.length === given.length ? quotedCommand(words) : undefined;
}

function changeLines(
  { diff, change }: ToldChange,
  how: Lines,
): { readonly lines: string[]; readonly whole: FileChange[] } {
  if (change === undefined) {
    return {
      lines: [
        `change of ${inLine(diff.path)}, as the session tells it; the file here cannot be compared with it, or has something else:`,
        ...how(unifiedDiff(diff.oldText ?? "", diff.newText)),
      ],
      whole: [],
    };
  }
  const { lines, isWhole } = shownChange(change, how);
  return { lines: [`change of ${inLine(diff.path)}:`, ...lines], whole: isWhole ? [change] : [] };
}

/** Texts, pictures, links and terminals that the request shows. */
function contentLines({ content }: ToolCallUpdate, shown: Lines): string[] {
  return (content ?? []).flatMap((part) => {
    if (diffsIn({ content: [part] }).length > 0) return [];
    const { content: block, type, ...more }: { content?: { type?: unknown; text?: unknown }; type?: unknown } = part;
    const isText = type === "content" && block?.type === "text" && typeof block.text === "string";
    const isPlain = isText && Object.keys(more).length === 0 && Object.keys(block).length === 2;
    const text = isPlain ? String(block.text) : argumentText(part, nothing);
    return ["the session shows:", ...shown(quoted(text).split("\n"))];
  });
}

/** Fields that have a place of their own above, or that only say how far the call is. */
const shownFields = new Set(["toolCallId", "title", "content", "locations", "rawInput", "status", "sessionUpdate"]);

/** What else the request has, of whatever meaning: extensions, results, fields of later versions. */
function restLines({ call, request }: Asked, shown: Lines): string[] {
  const { options: _options, toolCall: _call, sessionId: _session, ...around } = request;
  const locations = (call.locations ?? []).filter((location) =>
    Object.keys(location).some((name) => name !== "path" && name !== "line"),
  );
  const more = {
    ...Object.fromEntries(
      Object.entries(call).filter(([name, value]) => !shownFields.has(name) && value !== undefined && value !== null),
    ),
    ...(locations.length === 0 ? {} : { locations }),
    ...(Object.keys(around).length === 0 ? {} : { request: around }),
  };
  if (Object.keys(more).length === 0) return [];
  return ["the request also has:", ...shown(quoted(argumentText(more, nothing)).split("\n"))];
}

/** The name is the session's, and can say something else than a yes does. */
function optionLine(options: readonly PermissionOption[]): string[] {
  const answer = optionFor(options, true);
  const option = options.find(({ optionId }) => answer.outcome === "selected" && optionId === answer.optionId);
  if (option?.kind !== "allow_once") return ["a yes cannot be given: the session offers no way to allow this once"];
  return option.name === "" ? [] : [`a yes is answered with the session's option: ${inLine(option.name)}`];
}

type Outcome = { readonly outcome: "selected"; readonly optionId: string } | { readonly outcome: "cancelled" };

/** Never for good: an agent that only offers "always" gets a no. An id that several options have says nothing. */
export function optionFor(options: readonly PermissionOption[], allowed: boolean): Outcome {
  const kinds = allowed ? ["allow_once"] : ["reject_once", "reject_always"];
  const clear = options.filter(({ optionId }) => options.filter((each) => each.optionId === optionId).length === 1);
  for (const kind of kinds) {
    const found = clear.find((option) => option.kind === kind);
    if (found !== undefined) return { outcome: "selected", optionId: found.optionId };
  }
  return allowed ? optionFor(options, false) : { outcome: "cancelled" };
}
