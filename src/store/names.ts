// Names for the outside, made from the store's salt and the integer id of a row.

import type { AskId, TaskId, ThreadId } from "../protocol/ids.ts";

export function taskName(salt: string, id: number): TaskId {
  return `tsk_${salt}_${id.toString(36)}`;
}

export function askName(salt: string, id: number): AskId {
  return `ask_${salt}_${id.toString(36)}`;
}

export function threadName(salt: string, id: number): ThreadId {
  return `thr_${salt}_${id.toString(36)}`;
}

/** Undefined for a name this store did not give, also for another spelling of one it did: a record has one name. */
export function idInName(salt: string, name: string): number | undefined {
  const found = /^(?:tsk|ask|thr)_([0-9a-f]+)_([1-9a-z][0-9a-z]*)$/.exec(name);
  if (found === null || found[1] !== salt) return undefined;
  const id = Number.parseInt(found[2] ?? "", 36);
  return Number.isSafeInteger(id) ? id : undefined;
}
