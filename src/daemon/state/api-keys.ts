// The keys of the API: who may call, by digest; made, listed and revoked here.

import { randomBytes, randomUUID } from "node:crypto";

import { z } from "zod";

import { KeyView, type MadeKey, type NewKey } from "../../protocol/api/service.ts";
import { TuttiError } from "../../protocol/error.ts";
import { parseJson } from "../../protocol/json/parse-json.ts";
import type { ServiceRecords, KeyRow } from "../../store/service-records.ts";
import { secretDigest } from "../secrets/secret-digest.ts";
import { newAdminKey, readAdminKey } from "./admin-key.ts";
import type { OwnSettings, SharedByNodes } from "./kept-records.ts";

export interface KeysOptions {
  readonly records: Pick<ServiceRecords, "keys" | "addKey" | "revokeKey" | "setting" | "putSetting">;
  /** Which key stands in the admin file; among the records when absent. */
  readonly own?: OwnSettings;
  /** Resolves when what was queued is on disk. */
  readonly committed: () => Promise<void>;
  /** Where several nodes share the keys. */
  readonly shared?: Pick<SharedByNodes, "onShared" | "seenByAll"> | undefined;
  readonly now?: () => number;
}

/** Who a key speaks for. */
export type KeyHolder = Pick<KeyRow, "id" | "name" | "role"> & KeyStanding;

/** Kept beside the row. A key of an earlier version has none: it is a program's. */
const KeyStanding = KeyView.pick({ person: true, may: true, folders: true });
type KeyStanding = z.infer<typeof KeyStanding>;
/** `made_by`: the key of the program that made it, and with which it ends. */
const KeptStanding = KeyStanding.extend({ made_by: z.string().optional() });
type KeptStanding = z.infer<typeof KeptStanding>;
type KnownKey = KeyRow & KeptStanding;

const ofPerson: KeyStanding = { person: true, may: [], folders: [] };
const ofProgram: KeyStanding = { person: false, may: [], folders: [] };

/** The setting with the standing of a key. */
function standingKey(id: string): string {
  return `standing of ${id}`;
}

/** Called in the tick of the revocation, so what it queues is in the same commit. Revoking waits for what it returns. */
export type RevokedListener = (id: string) => void | Promise<void>;

/** The caller that owns the state folder. */
export const owner = "owner";

const adminName = "admin";
/** The setting that holds the id of the key that stands in the file. */
const fileKey = "admin_key";

export class Keys {
  readonly #options: KeysOptions;
  readonly #own: OwnSettings;
  readonly #rows = new Map<string, KnownKey>();
  /**
   * Live keys by the SHA-256 of the key. How long a look-up takes depends on the digest of what was presented and of what
   * is kept, and nobody can choose a key by its digest: there is nothing to be learned byte by byte.
   */
  readonly #live = new Map<string, KnownKey>();
  readonly #onRevoked = new Set<RevokedListener>();

  constructor(options: KeysOptions) {
    this.#options = options;
    this.#own = options.own ?? options.records;
    this.#follow();
    options.shared?.onShared(() => this.#follow());
  }

  /** The holder of a live key; undefined for anything else. */
  find(key: string): KeyHolder | undefined {
    return this.#live.get(secretDigest(key));
  }

  /** The holder of the key with this id, if it was not revoked. */
  holder(id: string): KeyHolder | undefined {
    const row = this.#rows.get(id);
    return row?.revoked_at === null ? row : undefined;
  }

  /** The id of the key in the admin file, which is the owner's; undefined before a service was started on the folder. */
  ownerKey(): string | undefined {
    return this.#own.setting(fileKey);
  }

  /**
   * Who the holder of a key is as a caller. The key in the admin file is exchanged now and then, and the command line works
   * without it when no daemon runs: both are the owner of the state folder. Each node has a folder of its own, so there
   * every admin key stands for the owner.
   */
  callerOf(id: string): string {
    const isAdmin = this.#options.shared !== undefined && this.#rows.get(id)?.role === "admin";
    return isAdmin || id === this.ownerKey() ? owner : id;
  }

  /** False for an id that no key has. */
  isRevoked(id: string): boolean {
    return (this.#rows.get(id)?.revoked_at ?? null) !== null;
  }

  /** Revoked ones too. */
  list(): KeyView[] {
    return [...this.#rows.values()].map(viewOf);
  }

  /** `madeBy`: the id of the key of a program that makes it. */
  async add({ name, role, person = false, may = [], folders = [] }: NewKey, madeBy?: string): Promise<MadeKey> {
    const key = newKey();
    const made = madeBy === undefined ? {} : { made_by: madeBy };
    const row = this.#make(key, { name, role }, { person, may, folders, ...made });
    await this.#options.committed();
    // So that whoever uses it at another node at once is let in. The key counts in any case.
    await this.#options.shared?.seenByAll().catch(() => undefined);
    return { ...viewOf(row), key };
  }

  /**
   * Holds from the next request on, before it is on disk. When it resolves, everything that came from the key has ended
   * too: streams, operator sessions and their sockets, tickets, workers' rights, and the keys that a program made with it.
   * Revoking twice changes nothing.
   */
  async revoke(id: string): Promise<void> {
    const row = this.#rows.get(id);
    if (row === undefined) throw new TuttiError("not_found", `there is no key ${id}`);
    if (row.revoked_at !== null) return this.#options.committed();
    const admins = [...this.#live.values()].filter(({ role }) => role === "admin");
    if (row.role === "admin" && admins.length === 1) {
      throw new TuttiError("conflict", `${id} is the last admin key; make another before you revoke it`);
    }
    await this.#revoke(row);
  }

  onRevoked(listener: RevokedListener): () => void {
    this.#onRevoked.add(listener);
    return () => this.#onRevoked.delete(listener);
  }

  /**
   * The admin key of the file, made with it at the first start. One the store does not know, as after a crash between the
   * two writes, is taken in again; one that was revoked is not, and a new one takes its place. The key the file had before
   * is revoked then: who removes the file does so because others may know what was in it.
   */
  async ensureAdmin(file: string): Promise<string> {
    const found = readAdminKey(file);
    const row = found === undefined ? undefined : this.#rowOf(found);
    const { committed } = this.#options;
    const last = this.#own.setting(fileKey);
    if (found !== undefined && row?.revoked_at === null) {
      if (last !== row.id) this.#own.putSetting(fileKey, row.id);
      // The key that stands in the folder is its owner's; earlier versions did not note that.
      if (!row.person) this.#stand(row, ofPerson);
      return found;
    }
    const key = found !== undefined && row === undefined ? found : newAdminKey(file, newKey());
    const { id } = this.#make(key, { name: adminName, role: "admin" }, ofPerson);
    this.#own.putSetting(fileKey, id);
    const before = last === undefined ? undefined : this.#rows.get(last);
    if (before?.revoked_at === null) await this.#revoke(before);
    await committed();
    return key;
  }

  async #revoke(row: KnownKey): Promise<void> {
    const at = this.#now();
    this.#keep({ ...row, revoked_at: at });
    this.#options.records.revokeKey(row.id, at);
    const ended = [...this.#onRevoked].map((listener) => listener(row.id));
    await Promise.all([...ended, ...this.#revokeMade(), this.#options.committed()]);
    await this.#options.shared?.seenByAll();
  }

  /** Live keys of programs whose own keys were revoked: otherwise a program makes another key before it loses its own. */
  #revokeMade(): Promise<void>[] {
    const made = [...this.#live.values()].filter(({ made_by }) => made_by !== undefined && this.isRevoked(made_by));
    return made.map((row) => this.#revoke(row));
  }

  /** Takes in what is recorded. What came from a key that another node revoked ends here, too. */
  #follow(): void {
    for (const row of this.#options.records.keys()) {
      const before = this.#rows.get(row.id);
      const known = { ...row, ...(before?.person === true ? before : this.#standingOf(row.id)) };
      if (before !== undefined && known.person !== before.person) this.#keep({ ...before, person: known.person });
      const isNew = before === undefined || (before.revoked_at === null && row.revoked_at !== null);
      if (!isNew) continue;
      this.#keep({ ...known, revoked_at: row.revoked_at });
      if (before === undefined || row.revoked_at === null) continue;
      for (const listener of this.#onRevoked) void Promise.resolve(listener(row.id)).catch(() => undefined);
    }
    // Made at one node while the key was revoked at another.
    for (const revoking of this.#revokeMade()) void revoking.catch(() => undefined);
  }

  #make(key: string, { name, role }: Pick<KeyRow, "name" | "role">, standing: KeptStanding): KnownKey {
    const row: KeyRow = {
      id: `key_${randomUUID()}`,
      name,
      role,
      digest: secretDigest(key),
      created_at: this.#now(),
      revoked_at: null,
    };
    this.#options.records.addKey(row);
    return this.#stand(row, standing);
  }

  /** In the commit of the key itself, when it was just made. */
  #stand(row: KeyRow, standing: KeptStanding): KnownKey {
    const known = { ...row, ...standing };
    this.#options.records.putSetting(standingKey(row.id), JSON.stringify(standing));
    this.#keep(known);
    return known;
  }

  #standingOf(id: string): KeptStanding {
    const kept = KeptStanding.safeParse(parseJson(this.#options.records.setting(standingKey(id)) ?? ""));
    return kept.success ? kept.data : ofProgram;
  }

  #keep(row: KnownKey): void {
    this.#rows.set(row.id, row);
    if (row.revoked_at === null) this.#live.set(row.digest, row);
    else this.#live.delete(row.digest);
  }

  #rowOf(key: string): KnownKey | undefined {
    const digest = secretDigest(key);
    return [...this.#rows.values()].find((row) => row.digest === digest);
  }

  #now(): number {
    return (this.#options.now ?? Date.now)();
  }
}

function newKey(): string {
  return `tk_${randomBytes(32).toString("base64url")}`;
}

function viewOf({ id, name, role, person, may, folders, created_at, revoked_at }: KnownKey): KeyView {
  return { id, name, role, person, may, folders, created_at, revoked_at };
}
