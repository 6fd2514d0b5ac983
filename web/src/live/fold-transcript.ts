// What happened in one task, as a reader follows it: messages, thoughts, tool calls with their results, and what Tutti did.

import type { TaskEvent, TaskId } from "../../../src/client/index.ts";
import { describeEvent } from "./describe-event.ts";

type Tone = "info" | "good" | "bad" | "warn";

interface EntryBase {
  /** The event that the entry began with; it is also its address in a link. */
  readonly seq: number;
  /** Which part of the event it is: one message may have several. */
  readonly part: number;
  readonly at: number;
  readonly attempt: number;
}

export interface ToolEntry extends EntryBase {
  readonly kind: "tool";
  readonly name: string;
  readonly input: unknown;
  readonly result: { readonly at: number; readonly text: string } | null;
}

export type TranscriptEntry =
  | (EntryBase & {
      readonly kind: "message";
      readonly role: string;
      readonly name: string | null;
      readonly text: string;
      readonly tokens: number;
    })
  | (EntryBase & { readonly kind: "thought"; readonly text: string })
  | ToolEntry
  | (EntryBase & { readonly kind: "attempt"; readonly text: string })
  | (EntryBase & { readonly kind: "note"; readonly tone: Tone; readonly title: string; readonly text: string });

export interface Transcript {
  readonly task: TaskId;
  /** Changed in place: long transcripts are never copied. `version` tells that something changed. */
  readonly entries: TranscriptEntry[];
  readonly events: TaskEvent[];
  /** Where the call of an id stands that has no result yet. */
  readonly openCalls: Map<string, number>;
  /** Where the result of an id stands whose call is older than what was read. */
  readonly openResults: Map<string, number>;
  /** There are events before the first one that was read. */
  readonly hasOlder: boolean;
  readonly seq: number;
  readonly version: number;
}

export function emptyTranscript(task: TaskId): Transcript {
  const places = { openCalls: new Map(), openResults: new Map() };
  return { task, entries: [], events: [], ...places, hasOlder: false, seq: 0, version: 0 };
}

/** With a page of events that come right before those that were read. A result finds its call in it. */
export function addOlder(later: Transcript, page: readonly TaskEvent[], hasOlder: boolean): Transcript {
  const older = foldTranscript(emptyTranscript(later.task), page);
  const { entries, openCalls, openResults } = older;
  const found = new Set<number>();
  for (const [id, place] of later.openResults) {
    const [at, result] = [openCalls.get(id), later.entries[place]];
    const call = at === undefined ? undefined : entries[at];
    if (at === undefined || call?.kind !== "tool" || result?.kind !== "tool") continue;
    entries[at] = { ...call, result: result.result };
    openCalls.delete(id);
    found.add(place);
  }
  const [first] = later.entries;
  // The page began within an attempt, which has its heading further up.
  if (first?.kind === "attempt" && first.attempt === entries.at(-1)?.attempt) found.add(0);
  const places = new Map<number, number>();
  for (const [place, entry] of later.entries.entries()) {
    if (found.has(place)) continue;
    places.set(place, entries.length);
    entries.push(entry);
  }
  for (const known of ["openCalls", "openResults"] as const) {
    for (const [id, place] of later[known]) {
      const moved = places.get(place);
      if (moved !== undefined) older[known].set(id, moved);
    }
  }
  const events = older.events;
  for (const event of later.events) events.push(event);
  return { ...later, entries, events, openCalls, openResults, hasOlder, version: later.version + 1 };
}

/** Events in the order of their sequence; those of other tasks, and those that were folded before, change nothing. */
export function foldTranscript(before: Transcript, events: readonly TaskEvent[]): Transcript {
  let { seq, version } = before;
  for (const event of events) {
    if (event.seq <= seq) continue;
    seq = event.seq;
    if (event.task !== before.task) continue;
    before.events.push(event);
    version += 1;
    addEntries(before, event);
  }
  if (version !== before.version) return { ...before, seq, version };
  return seq === before.seq ? before : Object.assign(before, { seq });
}

function addEntries(transcript: Transcript, event: TaskEvent): void {
  const { entries, openCalls, openResults } = transcript;
  const base = { seq: event.seq, part: 0, at: event.at, attempt: event.attempt ?? 1 };
  if (event.type === "run.started" && base.attempt > (entries.at(-1)?.attempt ?? 1)) {
    entries.push({ ...base, kind: "attempt", text: `Attempt ${base.attempt}` });
    return;
  }
  if (event.type === "session.updated" && event.data.kind === "thought") {
    const text = textIn(event.data.update, "text");
    if (text !== undefined) entries.push({ ...base, kind: "thought", text });
    return;
  }
  if (event.type !== "message.added") {
    const told = describeEvent(event);
    if (told !== undefined) entries.push({ ...base, kind: "note", ...told });
    return;
  }
  const { message, step } = event.data;
  for (const [index, part] of message.parts.entries()) {
    if (message.parts_metadata?.[String(index)]?.developer === true) continue;
    if (part.part_type === "tool_call") {
      const { tool_call_id: id, tool_name: name, input } = part.data;
      openCalls.set(`${base.attempt} ${id}`, entries.length);
      entries.push({ ...base, part: index, kind: "tool", name, input, result: null });
    } else if (part.part_type === "tool_result") {
      const id = `${base.attempt} ${part.data.tool_call_id}`;
      const place = openCalls.get(id);
      const call = place === undefined ? undefined : entries[place];
      const result = { at: event.at, text: part.data.parts.map(partText).join("\n") };
      openCalls.delete(id);
      if (place !== undefined && call?.kind === "tool") entries[place] = { ...call, result };
      else {
        if (!openResults.has(id)) openResults.set(id, entries.length);
        entries.push({ ...base, part: index, kind: "tool", name: part.data.tool_name, input: null, result });
      }
    } else {
      const text = partText(part);
      const { role, name } = message;
      const tokens = step?.tokens ?? 0;
      if (text.trim() !== "") entries.push({ ...base, part: index, kind: "message", role, name, text, tokens });
    }
  }
}

type MessagePart = Extract<TaskEvent, { type: "message.added" }>["data"]["message"]["parts"][number];

function partText(part: MessagePart): string {
  switch (part.part_type) {
    case "text":
      return part.data;
    case "data":
      return dataText(part.data);
    case "image":
    case "file":
      return `[${part.part_type}: ${part.data.name ?? part.data.mime_type}]`;
    case "artifact":
      return `[file: ${part.data.relative_path}]`;
    case "resource_link":
      return part.data.text ?? part.data.uri;
    case "tool_call":
    case "tool_result":
      return "";
  }
}

/** The output of a program is shown as it is, and other data as JSON. */
function dataText(data: unknown): string {
  for (const field of ["diff", "output", "content", "text"]) {
    const text = textIn(data, field);
    if (text !== undefined && text !== "") return text;
  }
  return typeof data === "string" ? data : (JSON.stringify(data, null, 2) ?? "");
}

function textIn(value: unknown, field: string): string | undefined {
  if (typeof value !== "object" || value === null || !(field in value)) return undefined;
  const found: unknown = Reflect.get(value, field);
  return typeof found === "string" ? found : undefined;
}
