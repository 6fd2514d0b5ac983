// Who has joined: sessions and their names, in memory as the store has them; a name belongs to one at a time.

import { createHash, randomBytes, randomUUID, timingSafeEqual } from "node:crypto";

import type { Clock } from "../../ports.ts";
import { TuttiError } from "../../protocol/error.ts";
import { anyOperator } from "../../protocol/operator/operator-session.ts";
import type { ServiceRecords } from "../../store/service-records.ts";
import { newSession, type Session, spawnsOf } from "./session.ts";

const maxSessions = 10_000;

type OperatorRows = Pick<ServiceRecords, "operators" | "putOperator" | "removeOperator">;

export type Joined =
  | { readonly ok: true; readonly session: Session; readonly token: string }
  | { readonly ok: false; readonly conflicts: string[] };

export class Roster {
  readonly #records: OperatorRows;
  readonly #clock: Clock;
  readonly #sessions = new Map<string, Session>();
  readonly #byRole = new Map<string, Session>();

  constructor(records: OperatorRows, clock: Clock) {
    this.#records = records;
    this.#clock = clock;
    for (const row of records.operators()) this.#add(newSession(row));
  }

  get(sid: string): Session | undefined {
    return this.#sessions.get(sid);
  }

  all(): Session[] {
    return [...this.#sessions.values()];
  }

  /** All the names or none. Durable with the next commit, which the caller awaits before it tells the token. */
  join(given: readonly string[], api_key: string): Joined {
    const roles = [...new Set(given)];
    const conflicts = roles.filter((role) => this.#byRole.has(role));
    if (conflicts.length > 0) return { ok: false, conflicts };
    if (this.#sessions.size >= maxSessions) {
      throw new TuttiError("busy", `there are ${maxSessions} operators already; end sessions that nobody uses`);
    }
    const token = `ot-${randomBytes(16).toString("hex")}`;
    const now = this.#clock.now();
    const row = { sid: `op-${randomUUID()}`, digest: digestOf(token), roles, created_at: now, seen_at: now, api_key };
    const session = newSession(row);
    this.#records.putOperator(row);
    this.#add(session);
    return { ok: true, session, token };
  }

  /** Its names are free from now on. */
  remove({ row }: Session): void {
    this.#records.removeOperator(row.sid);
    this.#sessions.delete(row.sid);
    for (const role of row.roles) this.#byRole.delete(role);
  }

  seen(session: Session): void {
    session.row = { ...session.row, seen_at: this.#clock.now() };
    this.#records.putOperator(session.row);
  }

  /** Takes as long for a sid that is not there, so that only the answer says so. */
  authenticates(sid: string, bearer: string): "yes" | "no" | "unknown_sid" {
    const session = this.#sessions.get(sid);
    const same = timingSafeEqual(
      Buffer.from(session?.row.digest ?? nobody, "hex"),
      Buffer.from(digestOf(bearer), "hex"),
    );
    if (session === undefined) return "unknown_sid";
    return same ? "yes" : "no";
  }

  /** The session a name stands for; `any` is the connected one with the fewest spawns in its hands. */
  find(address: string): Session | undefined {
    if (address !== anyOperator) return this.#sessions.get(address) ?? this.#byRole.get(address);
    let found: { readonly session: Session; readonly spawns: number } | undefined;
    for (const session of this.#sessions.values()) {
      if (session.socket?.isOpen !== true) continue;
      const spawns = spawnsOf(session);
      if (found === undefined || spawns < found.spawns) found = { session, spawns };
    }
    return found?.session;
  }

  #add(session: Session): void {
    this.#sessions.set(session.row.sid, session);
    for (const role of session.row.roles) this.#byRole.set(role, session);
  }
}

const nobody = "0".repeat(64);

function digestOf(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}
