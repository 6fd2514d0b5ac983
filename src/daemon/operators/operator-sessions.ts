// The operator sessions: joining, authenticating, finding and removing them.

import { randomBytes, randomUUID, timingSafeEqual } from "node:crypto";

import type { Clock } from "../../ports.ts";
import { TuttiError } from "../../protocol/error.ts";
import { anyOperator } from "../../protocol/operator/operator-name.ts";
import type { OperatorRow, ServiceRecords } from "../../store/service-records.ts";
import type { Keys } from "../state/api-keys.ts";
import { secretDigest } from "../secrets/secret-digest.ts";
import type { SigningKey } from "./signing-key.ts";
import { newOperatorSession, type OperatorSession, spawnCount } from "./session-state.ts";

const maxSessions = 10_000;

type OperatorRows =
  | "operators"
  | "operator"
  | "sidOfRole"
  | "addOperator"
  | "touchOperator"
  | "removeOperator"
  | "removeIdleOperator";

export interface OperatorSessionsOptions {
  readonly records: Pick<ServiceRecords, OperatorRows>;
  /** Resolves when everything queued so far is on disk. */
  readonly committed: () => Promise<void>;
  readonly clock: Clock;
  readonly keys: Pick<Keys, "isRevoked">;
  readonly signingKey: Pick<SigningKey, "mac">;
}

export type JoinResult =
  | { readonly ok: true; readonly session: OperatorSession; readonly token: string }
  | { readonly ok: false; readonly conflicts: string[] };

export class OperatorSessions {
  readonly #options: OperatorSessionsOptions;
  /** What this process knows of stored operator sessions. The rows decide which exist, and who holds a name. */
  readonly #known = new Map<string, OperatorSession>();
  /** Removed here, until that is committed and the row can no longer be read. */
  readonly #beingRemoved = new Set<string>();
  /** Joins with an idempotency key that are under way. */
  readonly #joining = new Map<string, Promise<JoinResult>>();

  constructor(options: OperatorSessionsOptions) {
    this.#options = options;
    for (const row of options.records.operators()) this.#adopt(row);
  }

  get(sid: string): OperatorSession | undefined {
    const known = this.#known.get(sid);
    if (known !== undefined) return known;
    const row = this.#row(sid);
    return row === undefined ? undefined : this.#adopt(row);
  }

  /** Undefined if this process does not know of it. */
  knownAs(sid: string): OperatorSession | undefined {
    return this.#known.get(sid);
  }

  /** Those this process knows of. */
  known(): OperatorSession[] {
    return [...this.#known.values()];
  }

  /** All that are stored, whichever process they joined at. */
  all(): OperatorSession[] {
    const rows = this.#options.records.operators().filter(({ sid }) => !this.#beingRemoved.has(sid));
    return rows.map((row) => this.#adopt(row));
  }

  /** False once it was removed, also if somebody still holds on to the object. */
  isCurrent(session: OperatorSession): boolean {
    return this.#known.get(session.row.sid) === session;
  }

  /** The operator session gets all the names or none. It is durable when this resolves. */
  async join(names: readonly string[], api_key: string): Promise<JoinResult> {
    return this.#join(names, api_key, undefined);
  }

  /** The same key again finds the operator session that joined with it, and gives the same token. */
  async joinOnce(names: readonly string[], api_key: string, key: string): Promise<JoinResult> {
    const once = `${api_key} ${key}`;
    await this.#joining.get(once)?.catch(() => undefined);
    const found = this.#joinedOnce(names, api_key, key);
    if (found !== undefined) return found;
    const joining = this.#joining.get(once) ?? this.#join(names, api_key, key);
    this.#joining.set(once, joining);
    try {
      return await joining;
    } finally {
      this.#joining.delete(once);
    }
  }

  #joinedOnce(names: readonly string[], api_key: string, key: string): JoinResult | undefined {
    const row = this.#options.records.operators().find((each) => {
      return each.api_key === api_key && each.digest === secretDigest(this.#tokenFor(each.sid, api_key, key));
    });
    if (row === undefined || this.#row(row.sid) === undefined) return undefined;
    if (row.roles.toSorted().join("\n") !== [...new Set(names)].toSorted().join("\n")) {
      throw new TuttiError("conflict", "this idempotency key was used to join with other roles; use a new key");
    }
    return {
      ok: true,
      session: this.#adopt(row),
      token: this.#tokenFor(row.sid, api_key, key),
    };
  }

  /** Nothing but the digest of a token is kept, so one that can be given again is made from what the caller sends. */
  #tokenFor(sid: string, api_key: string, key: string): string {
    return `ot-${this.#options.signingKey.mac("operator token", `${sid} ${api_key} ${key}`).slice(0, 32)}`;
  }

  async #join(names: readonly string[], api_key: string, key: string | undefined): Promise<JoinResult> {
    const { records, committed, clock, keys } = this.#options;
    if (keys.isRevoked(api_key)) throw new TuttiError("unauthorized", "the key of this operator was revoked");
    const roles = [...new Set(names)];
    if (this.#known.size >= maxSessions) {
      throw new TuttiError("busy", `there are ${maxSessions} operator sessions already; end those that nobody uses`);
    }
    const taken = this.#taken(roles);
    if (taken.length > 0) return { ok: false, conflicts: taken };
    const sid = `op-${randomUUID()}`;
    const token = key === undefined ? `ot-${randomBytes(16).toString("hex")}` : this.#tokenFor(sid, api_key, key);
    const now = clock.now();
    const digest = secretDigest(token);
    const row = { sid, digest, roles, created_at: now, seen_at: now, api_key };
    records.addOperator(row);
    await committed();
    if (this.#row(row.sid) !== undefined) return { ok: true, session: this.#adopt(row), token };
    // Somebody took one of the names first, and perhaps gave it back since.
    const conflicts = this.#taken(roles);
    return conflicts.length > 0 ? { ok: false, conflicts } : this.#join(names, api_key, key);
  }

  /** Its names are free from now on. */
  remove(session: OperatorSession): void {
    this.#options.records.removeOperator(session.row.sid);
    this.#forget(session);
  }

  /** Removes it unless it was seen by another process since it was seen here; then it comes back with its next use. */
  removeIdle(session: OperatorSession): void {
    this.#options.records.removeIdleOperator(session.row.sid, session.row.seen_at);
    this.#forget(session);
  }

  /** Another process removed it. Returns it if it was known here. */
  removedElsewhere(sid: string): OperatorSession | undefined {
    const session = this.#known.get(sid);
    this.#known.delete(sid);
    return session;
  }

  /** Another process joined it or saw it. Returns false if it was not known here. */
  seenElsewhere(sid: string): boolean {
    const session = this.#known.get(sid);
    const row = this.#options.records.operator(sid);
    if (session !== undefined && row !== undefined) session.row = row;
    return session !== undefined;
  }

  /** Records that the operator was there now. */
  touch(session: OperatorSession): void {
    const seen_at = this.#options.clock.now();
    session.row = { ...session.row, seen_at };
    this.#options.records.touchOperator(session.row.sid, seen_at);
  }

  /** Compares in constant time, and takes as long for a sid that does not exist. */
  authenticates(sid: string, token: string): "yes" | "no" | "unknown_sid" {
    const row = this.#row(sid);
    const same = timingSafeEqual(Buffer.from(row?.digest ?? noDigest, "hex"), Buffer.from(secretDigest(token), "hex"));
    if (row === undefined) return "unknown_sid";
    return same ? "yes" : "no";
  }

  /** The operator session an address stands for. `any` is the connected one with the fewest spawns assigned to it. */
  find(address: string): OperatorSession | undefined {
    if (address === anyOperator) return this.#leastBusy();
    const sid = address.startsWith("op-") ? address : this.#options.records.sidOfRole(address);
    return sid === undefined ? undefined : this.get(sid);
  }

  #leastBusy(): OperatorSession | undefined {
    let found: { readonly session: OperatorSession; readonly spawns: number } | undefined;
    for (const session of this.#known.values()) {
      if (session.connection?.isOpen !== true) continue;
      const spawns = spawnCount(session);
      if (found === undefined || spawns < found.spawns) found = { session, spawns };
    }
    return found?.session;
  }

  #row(sid: string): OperatorRow | undefined {
    const row = this.#beingRemoved.has(sid) ? undefined : this.#options.records.operator(sid);
    return row === undefined || this.#options.keys.isRevoked(row.api_key) ? undefined : row;
  }

  #taken(roles: readonly string[]): string[] {
    return roles.filter((role) => {
      const sid = this.#options.records.sidOfRole(role);
      return sid !== undefined && !this.#beingRemoved.has(sid);
    });
  }

  #adopt(row: OperatorRow): OperatorSession {
    const known = this.#known.get(row.sid);
    if (known !== undefined) return known;
    const session = newOperatorSession(row);
    this.#known.set(row.sid, session);
    return session;
  }

  #forget({ row: { sid } }: OperatorSession): void {
    this.#known.delete(sid);
    this.#beingRemoved.add(sid);
    const readable = (): void => void this.#beingRemoved.delete(sid);
    this.#options.committed().then(readable, readable);
  }
}

const noDigest = "0".repeat(64);
