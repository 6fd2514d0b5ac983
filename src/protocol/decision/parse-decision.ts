// Reads the manager's reply as one decision. What is not clearly one is shown to the person, never carried out.
import { candidateStarts } from "./candidate-starts.ts";
import { isLaunchable } from "./decision.ts";
import type { Decision, Dropped } from "./decision.ts";
import { droppedList } from "./dropped-list.ts";
import { actionAt, outermostActions, scanFrom, scanRest, startScan } from "./find-actions.ts";
import type { ActionObject, ActionScan } from "./find-actions.ts";
import { nameOf, readAction } from "./read-action.ts";
import type { ActionReading } from "./read-action.ts";
import { trimSpace } from "../white-space.ts";

/** Why the manager should be asked again: its decision could not be read, or it delegated nothing that can run. */
export type RepromptReason = "no_decision" | "nothing_delegated";

export interface ParsedDecision {
  readonly decision: Decision;
  /** The reply was not a valid decision: one was found inside it, or malformed tasks were removed. */
  readonly recovered: boolean;
  readonly dropped: readonly Dropped[];
  readonly reprompt: RepromptReason | null;
}

export interface ParseDecisionOptions {
  /** How much text may be read in search of further actions, as a multiple of the length of the reply. */
  readonly scanFactor?: number;
}

/** Never throws: a reply without a decision is a `respond` that carries the whole reply, trimmed. */
export function parseDecision(reply: string, options: ParseDecisionOptions = {}): ParsedDecision {
  const text = trimSpace(reply);
  const scan = startScan(text);
  const chosen = firstCandidate(scan);
  const complete = scanRest(scan, Math.floor((options.scanFactor ?? 8) * text.length));
  const unsearched = complete ? [] : [{ what: "rest of the reply", reason: "too tangled to search for an action" }];
  if (chosen !== null) {
    const dropped = [...chosen.reading.fields, ...otherActions(scan, chosen.action), ...unsearched];
    return settled(chosen.decision, { recovered: false, dropped });
  }
  const recovery = complete ? recover(scan) : { decision: null, dropped: [] };
  const dropped = [...recovery.dropped, ...unsearched];
  if (recovery.decision !== null) return settled(recovery.decision, { recovered: true, dropped });
  const reprompt = /"action"[ \t\r\n]*:/.test(text) ? "no_decision" : null;
  return { decision: { action: "respond", message: text }, recovered: false, dropped, reprompt };
}

function settled(decision: Decision, rest: Pick<ParsedDecision, "recovered" | "dropped">): ParsedDecision {
  const idle = decision.action === "delegate" && !decision.tasks.some(isLaunchable);
  return { decision, ...rest, reprompt: idle ? "nothing_delegated" : null };
}

interface Chosen {
  readonly action: ActionObject;
  readonly reading: ActionReading;
  readonly decision: Decision;
}

function firstCandidate(scan: ActionScan): Chosen | null {
  for (const start of candidateStarts(scan.text)) {
    scanFrom(scan, start);
    const action = actionAt(scan, start);
    if (action === undefined) continue;
    const reading = readAction(scan.text, action);
    if (reading.decision !== null && reading.whole) return { action, reading, decision: reading.decision };
  }
  return null;
}

/** The other actions of the reply, without copies of the chosen one or of each other. */
function otherActions(scan: ActionScan, chosen: ActionObject): Dropped[] {
  const { text } = scan;
  const isNew = copyFilter(text);
  isNew(chosen);
  const others = droppedList("actions");
  for (const action of outermostActions(scan, chosen.start)) {
    if (others.naming() && !isNew(action)) continue;
    others.add(() => ({ what: nameOf(action), reason: whyNotTaken(readAction(text, action)) }));
  }
  return [...others.entries(), ...brokenActions(scan)];
}

function whyNotTaken(reading: ActionReading): string {
  if (reading.whole) return "a reply carries one decision, and another was taken";
  return reading
    .faults()
    .map(({ reason }) => reason)
    .join("; ");
}

/** The only action object of the reply, without its malformed tasks; nothing if there are several. */
function recover(scan: ActionScan): { decision: Decision | null; dropped: readonly Dropped[] } {
  const broken = brokenActions(scan);
  const first = outermostActions(scan).next().value;
  if (first === undefined) return { decision: null, dropped: broken };
  if (broken.length === 0 && isAlone(scan, first)) {
    const reading = readAction(scan.text, first);
    return { decision: reading.decision, dropped: [...reading.faults(), ...reading.fields] };
  }
  const reason = "the reply holds more than one action, and which one is meant is unclear";
  const unclear = droppedList("actions");
  for (const action of outermostActions(scan)) unclear.add(() => ({ what: nameOf(action), reason }));
  return { decision: null, dropped: [...unclear.entries(), ...broken] };
}

/** True if all complete action objects are copies of `first`, and none of them is inside another. */
function isAlone(scan: ActionScan, first: ActionObject): boolean {
  if (scan.ends.length === 1) return true;
  const isNew = copyFilter(scan.text);
  isNew(first);
  let standing = 0;
  for (const action of outermostActions(scan)) {
    if (action.start !== first.start && isNew(action)) return false;
    standing += 1;
  }
  return standing === scan.ends.length;
}

/**
 * Tells whether an action object is not a copy of one it was given before. Two objects that mean the same decision are
 * copies; one that is not wholly a decision equals only its own text.
 */
function copyFilter(text: string): (action: ActionObject) => boolean {
  const texts = new Set<string>();
  const meanings = new Set<string>();
  return (action) => {
    const source = text.slice(action.start, action.end);
    if (texts.has(source)) return false;
    texts.add(source);
    const { decision, whole } = readAction(text, action);
    if (!whole) return true;
    const meaning = JSON.stringify(decision);
    if (meanings.has(meaning)) return false;
    meanings.add(meaning);
    return true;
  };
}

const actionMember = /[{,][ \t\r\n]*"action"[ \t\r\n]*:[ \t\r\n]*"(delegate|respond|do_work)"/g;

/**
 * Actions that begin outside every complete action object: cut short, or broken by a stray quote. The complete objects
 * they contain may be quotations, so a broken action prevents recovery like any other second action.
 */
function brokenActions(scan: ActionScan): Dropped[] {
  const broken = droppedList("actions");
  const standing = outermostActions(scan);
  let around = standing.next().value;
  for (const match of scan.text.matchAll(actionMember)) {
    while (around !== undefined && around.end <= match.index) around = standing.next().value;
    if (around !== undefined && around.start <= match.index) continue;
    const what = nameOf({ name: match[1] ?? "", start: match.index });
    broken.add(() => ({ what, reason: "its object is not complete JSON, or nested too deep" }));
  }
  return broken.entries();
}
