// Names for the outside, made from the store's salt and the integer id of a row. Rows from another store keep their names.

import type { AskId, TaskId, ThreadId } from "../protocol/ids.ts";
import { idHere, idThere, type KeptNames, type NamedKind, readKeptNames } from "./kept-names.ts";

interface SaltWithKept {
  readonly own: string;
  /** Of the stores whose rows were brought here. Such a row has the name it had there, and no other. */
  readonly kept: readonly KeptNames[];
}

/** What the names of a store are made with. A plain text when all its rows are its own, as in almost every store. */
export type Salt = string | SaltWithKept;

export function taskName(salt: Salt, id: number): TaskId {
  const name = given(salt, "tsk", id);
  return `tsk_${name.salt}_${name.id.toString(36)}`;
}

export function askName(salt: Salt, id: number): AskId {
  const name = given(salt, "ask", id);
  return `ask_${name.salt}_${name.id.toString(36)}`;
}

export function threadName(salt: Salt, id: number): ThreadId {
  const name = given(salt, "thr", id);
  return `thr_${name.salt}_${name.id.toString(36)}`;
}

/** Undefined for a name this store did not give, also for another spelling of one it did: a record has one name. */
export function idInName(salt: Salt, name: string): number | undefined {
  const found = /^(tsk|ask|thr)_([0-9a-f]+)_([1-9a-z][0-9a-z]*)$/.exec(name);
  if (found === null) return undefined;
  const id = Number.parseInt(found[3] ?? "", 36);
  if (!Number.isSafeInteger(id)) return undefined;
  if (found[2] === ownSalt(salt)) return typeof salt === "string" || isOwn(salt, kindOf(found[1]), id) ? id : undefined;
  const kept = typeof salt === "string" ? undefined : salt.kept.find((each) => each.salt === found[2]);
  return kept === undefined ? undefined : idHere(kept, kindOf(found[1]), id);
}

/** Part of the names of new rows. */
export function ownSalt(salt: Salt): string {
  return typeof salt === "string" ? salt : salt.own;
}

/** The salts of all names that can be found here. */
export function saltsOf(salt: Salt): string[] {
  return typeof salt === "string" ? [salt] : [salt.own, ...salt.kept.map((each) => each.salt)];
}

/** The store that gave the row its name, and its id there. */
export function given(salt: Salt, kind: NamedKind, id: number): { readonly salt: string; readonly id: number } {
  if (typeof salt === "string") return { salt, id };
  for (const kept of salt.kept) {
    const there = idThere(kept, kind, id);
    if (there !== undefined) return { salt: kept.salt, id: there };
  }
  return { salt: salt.own, id };
}

const keptPrefix = "names_";

/** The key in the table `meta` under which the names of another store are kept. */
export const keptNamesKey = (salt: string): string => `${keptPrefix}${salt}`;

/** From the rows of the table `meta`. */
export function saltIn(meta: Iterable<{ readonly key: string; readonly value: string }>): Salt {
  let own = "";
  const kept: KeptNames[] = [];
  for (const { key, value } of meta) {
    if (key === "salt") own = value;
    else if (key.startsWith(keptPrefix)) kept.push(readKeptNames(key.slice(keptPrefix.length), value));
  }
  return kept.length === 0 ? own : { own, kept };
}

function isOwn(salt: SaltWithKept, kind: NamedKind, id: number): boolean {
  return given(salt, kind, id).salt === salt.own;
}

function kindOf(text: string | undefined): NamedKind {
  return text === "ask" || text === "thr" ? text : "tsk";
}
