// Reads a reply of the manager in a conversation as one action: a verb to carry out, or the words for the person.

import { z } from "zod";

import { candidateStarts } from "../decision/candidate-starts.ts";
import type { Dropped } from "../decision/decision.ts";
import { droppedList } from "../decision/dropped-list.ts";
import { readStrictJson } from "../json/strict-json.ts";
import { maxDepth, scanJson } from "../json/scan-json.ts";
import { describeIssues, issuesOf } from "../lenient-read.ts";
import { trimSpace } from "../white-space.ts";

export interface VerbCall {
  readonly action: "verb";
  /** As the model wrote it; it may be none that exists. */
  readonly verb: string;
  readonly args: Readonly<Record<string, unknown>>;
}

interface FinalAnswer {
  readonly action: "final";
  readonly message: string;
}

export interface ParsedAction {
  /** Undefined when the reply tried to act and could not be read. Nothing is carried out then. */
  readonly action: VerbCall | FinalAnswer | undefined;
  /** Parts of the reply that are not carried out. */
  readonly dropped: readonly Dropped[];
}

/** How much text may be read in search of actions, as a multiple of the length of the reply. */
const scanFactor = 8;

/** Never throws. A reply without an action is a final answer that consists of the whole reply, trimmed. */
export function parseAction(reply: string): ParsedAction {
  const text = trimSpace(reply);
  const search: Search = { text, ends: new Map(), found: [], left: scanFactor * text.length + 1 };
  for (const start of candidateStarts(text)) readAt(search, start);
  const chosen = search.found.find(({ reading }) => reading.action !== undefined);
  const isComplete = readRest(search);
  const broken = [
    ...brokenActions(search),
    ...(isComplete ? [] : [{ what: "rest of the reply", reason: "too tangled to search for an action" }]),
  ];
  // What stands behind an unclosed brace may be a quotation, so it counts only when there is no second action.
  const [alone, second] = search.found;
  const taken = chosen ?? (broken.length === 0 && second === undefined ? alone : undefined);
  if (taken?.reading.action !== undefined) {
    const others = search.found.filter(({ source }) => source !== taken.source);
    return { action: taken.reading.action, dropped: [...taken.reading.dropped, ...notTaken(others), ...broken] };
  }
  const dropped = [...notTaken(search.found), ...broken];
  return { action: dropped.length > 0 ? undefined : { action: "final", message: text }, dropped };
}

type Reading =
  | { readonly action: VerbCall | FinalAnswer; readonly dropped: readonly Dropped[] }
  | { readonly action: undefined; readonly fault: string };

interface Found {
  readonly name: string;
  readonly start: number;
  /** The same for two copies of one action. */
  readonly source: string;
  readonly reading: Reading;
}

/** The action objects of a reply, wherever they stand: alone, in a fence, in prose, or wrapped in another object. */
interface Search {
  readonly text: string;
  /** Where the object that opens at a brace ends; the brace itself when it opens none. */
  readonly ends: Map<number, number>;
  readonly found: Found[];
  /** How many characters may still be read. */
  left: number;
}

function notTaken(others: readonly Found[]): Dropped[] {
  const list = droppedList("actions");
  for (const { name, start, reading } of others) {
    const reason = reading.action === undefined ? reading.fault : "a reply carries one action, and another was taken";
    list.add(() => ({ what: `action ${name} at character ${start}`, reason }));
  }
  return list.entries();
}

const actionMember = /"action"[ \t\r\n]*:/g;

/** Actions outside of every complete object: cut short, or broken by a stray quote. */
function brokenActions({ text, ends }: Search): Dropped[] {
  const list = droppedList("actions");
  const spans = [...ends].filter(([start, end]) => end > start).sort(([a], [b]) => a - b);
  let at = 0;
  for (const { index } of text.matchAll(actionMember)) {
    while ((spans[at]?.[1] ?? Infinity) <= index) at += 1;
    if ((spans[at]?.[0] ?? Infinity) <= index) continue;
    list.add(() => ({ what: `action at character ${index}`, reason: "its object is not complete JSON" }));
  }
  return list.entries();
}

const AnyObject = z.record(z.string(), z.unknown());

function readAt(search: Search, start: number): number {
  const known = search.ends.get(start);
  if (known !== undefined || search.left <= 0) return known ?? start;
  const scan = scanJson(search.text, start, search.text.length);
  search.left -= (scan.ok ? scan.end : scan.at) - start + 1;
  search.ends.set(start, scan.ok ? scan.end : start);
  if (!scan.ok) return start;
  const source = search.text.slice(start, scan.end);
  const read = readStrictJson(source, { maxDepth });
  if (read.ok) collect(search, read.value, start);
  else if (source.search(actionMember) !== -1) {
    const fault =
      read.fault === "duplicate_key"
        ? "an object names a key twice, and which value counts is unclear"
        : "its object cannot be read";
    search.found.push({ name: "of unclear name", start, source, reading: { action: undefined, fault } });
  }
  return scan.end;
}

/** Reads from every brace outside the objects that were read; false when that took too long. */
function readRest(search: Search): boolean {
  const { text } = search;
  for (let at = text.indexOf("{"); at !== -1;) {
    if (search.left <= 0) return false;
    at = text.indexOf("{", Math.max(at + 1, readAt(search, at)));
  }
  return true;
}

/** Adds the outermost objects with an `action`. What an action contains are its arguments. */
function collect(search: Search, value: unknown, start: number): void {
  if (Array.isArray(value)) {
    for (const item of value) collect(search, item, start);
    return;
  }
  const object = AnyObject.safeParse(value);
  if (!object.success) return;
  const { action } = object.data;
  if (typeof action !== "string") {
    for (const item of Object.values(object.data)) collect(search, item, start);
    return;
  }
  const source = JSON.stringify(object.data);
  search.found.push({ name: action.slice(0, 64), start, source, reading: readObject(action, object.data) });
}

const Final = z.object({ message: z.string({ error: "must be the words for the person" }) });
const Call = z.object({ args: AnyObject.nullable().default(null) });

/** A blank action is a final answer, and so is `respond`, which is the word for it when a goal is decided. */
function readObject(action: string, given: Record<string, unknown>): Reading {
  const verb = trimSpace(action);
  const isFinal = verb === "final" || verb === "respond" || verb === "";
  const known = isFinal ? ["action", "message"] : ["action", "args"];
  const dropped = Object.keys(given).flatMap((key) =>
    known.includes(key) ? [] : [{ what: `\`${key.slice(0, 64)}\``, reason: "is not a known field and was ignored" }],
  );
  if (isFinal) {
    const read = Final.safeParse(given);
    if (!read.success) return { action: undefined, fault: describeIssues(issuesOf(read.error)) };
    return { action: { action: "final", message: read.data.message }, dropped };
  }
  const read = Call.safeParse(given);
  if (!read.success) return { action: undefined, fault: describeIssues(issuesOf(read.error)) };
  return { action: { action: "verb", verb, args: read.data.args ?? {} }, dropped };
}
