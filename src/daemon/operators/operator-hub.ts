// Connects operators with the requests that wait for them, over connections that come and go.
//
// The way of one request: the engine opens a wait; `request-intake` hears of it, on every node; `request-router` assigns it
// to an operator session; `request-sender` builds its frame (`request-frame`), records it and sends it; the operator's reply comes back through
// `operator-connections`, and `deliver-reply` settles the wait with it.

import { randomUUID } from "node:crypto";

import type { Clock, Tasks } from "../../ports.ts";
import { toTuttiError, TuttiError } from "../../protocol/error.ts";
import { type OperatorInfo, type OperatorTicket } from "../../protocol/operator/operator-session.ts";
import type { ClientFrame, ErrorFrame } from "../../protocol/operator/frames.ts";
import { anyOperator } from "../../protocol/operator/operator-name.ts";
import { readClientFrame } from "../../protocol/operator/read-client-frame.ts";
import type { SharedChange } from "../../store/postgres/shared-rows.ts";
import type { ServiceRecords } from "../../store/service-records.ts";
import type { EventFeed } from "../state/event-feed.ts";
import type { Keys } from "../state/api-keys.ts";
import { askAgain } from "./ask-again.ts";
import { deliverReply } from "./deliver-reply.ts";
import { tellRightsEnded } from "./end-rights.ts";
import { sendHookAfter } from "./hook-after.ts";
import { type HousekeepingTimes, startHousekeeping } from "./housekeeping.ts";
import type { Leases } from "./leases.ts";
import { OpenRequests } from "./open-requests.ts";
import { isReplaced, type OperatorPlaces } from "./operator-places.ts";
import type { OperatorSocket } from "./operator-connection.ts";
import { OperatorConnections } from "./operator-connections.ts";
import { OperatorSessions } from "./operator-sessions.ts";
import { RequestIntake } from "./request-intake.ts";
import { RequestRouter } from "./request-router.ts";
import { RequestSender } from "./request-sender.ts";
import { runLogged, type ServiceLog } from "./service-log.ts";
import { operatorInfo, type OperatorSession, type PendingRequest } from "./session-state.ts";
import type { SigningKey } from "./signing-key.ts";
import { issueTicket, redeemTicket } from "./tickets.ts";
import { treeOperators } from "./tree-operators.ts";
import type { OperatorReads } from "../../store/reads-for-operators.ts";
import type { Store } from "../../store/store.ts";

export interface OperatorHubOptions extends HousekeepingTimes {
  readonly records: ServiceRecords;
  /** Resolves when everything queued so far is on disk. */
  readonly committed: () => Promise<void>;
  /** Looks into the trees of all nodes. */
  readonly reads: OperatorReads;
  /** Has the trees that this process runs. */
  readonly store: Pick<Store, "salt" | "lastRun" | "waitAt" | "answer" | "bindKey">;
  readonly feed: Pick<EventFeed, "subscribe">;
  readonly engine: Pick<Tasks, "deliver" | "message">;
  readonly keys: Pick<Keys, "isRevoked">;
  readonly clock: Clock;
  readonly leases: Leases;
  readonly signingKey: SigningKey;
  /** Where workers reach the daemon. */
  readonly baseUrl: () => string;
  readonly log: ServiceLog;
  /** True for one caller only, on whichever node; absent where there is one process. */
  readonly claimOnce?: (what: string) => Promise<boolean>;
  /** Absent where there is one process. */
  readonly places?: OperatorPlaces;
  /** Brings in what other nodes changed of shared records; absent where there is one process. */
  readonly catchUp?: () => Promise<void>;
}

export type JoinReply =
  | { readonly ok: true; readonly sid: string; readonly token: string; readonly roles: string[] }
  | { readonly ok: false; readonly conflicts: string[] };

export class OperatorHub {
  readonly #options: OperatorHubOptions;
  readonly #sessions: OperatorSessions;
  readonly #connections: OperatorConnections;
  readonly #sender: RequestSender;
  readonly #router: RequestRouter;
  readonly #intake: RequestIntake;
  readonly #stops: (() => void)[];
  #closed = false;

  /** To be created after the engine has recovered. */
  constructor(options: OperatorHubOptions) {
    const { reads, feed, clock, claimOnce = async () => true } = options;
    const requests = new OpenRequests();
    this.#options = options;
    this.#sessions = new OperatorSessions(options);
    this.#connections = new OperatorConnections({
      clock,
      onText: (session, text) => this.#onText(session, text),
      onDisconnect: (session) => this.#onDisconnect(session),
    });
    const onSentElsewhere = (request: PendingRequest): void => this.#router.onSentElsewhere(request);
    this.#sender = new RequestSender({ ...options, requests, onSentElsewhere });
    const parts = { sessions: this.#sessions, connections: this.#connections, sender: this.#sender };
    this.#router = new RequestRouter({ ...options, ...parts, salt: reads.salt, requests });
    const operatorsOf = treeOperators(reads);
    const hookAfter = { ...options, ...parts, operatorsOf, claimOnce };
    this.#intake = new RequestIntake({
      ...options,
      operatorsOf,
      router: this.#router,
      tellsOfEnds: () => this.#connections.count > 0,
      onEnd: (event) =>
        sendHookAfter(hookAfter, event).catch((thrown: unknown) => this.#warn("telling a gate", thrown)),
    });
    // Subscribing comes before reading, so that no wait is missed: later ones come as events.
    const unsubscribe = feed.subscribe((events) => this.#intake.take(events.map(({ event }) => event)));
    this.#intake.start();
    this.#stops = [unsubscribe, () => this.#intake.close(), startHousekeeping({ ...options, ...parts })];
  }

  /**
   * The operator session is durable when this resolves. `apiKey` is the id of the key it joins with. The same idempotency
   * key again finds the same operator session.
   */
  async join(roles: readonly string[], apiKey: string, once?: string): Promise<JoinReply> {
    const joined = await (once === undefined
      ? this.#sessions.join(roles, apiKey)
      : this.#sessions.joinOnce(roles, apiKey, once));
    if (!joined.ok) return joined;
    const { sid, roles: given } = joined.session.row;
    this.#options.log.info({ sid, roles: given, api_key: apiKey }, "an operator joined");
    for (const address of [sid, ...given]) this.#router.routeUnassigned(address);
    return { ok: true, sid, token: joined.token, roles: [...given] };
  }

  list(): OperatorInfo[] {
    return this.#sessions.all().map(operatorInfo);
  }

  /** The same with operators that are connected to other nodes. */
  async listAll(): Promise<OperatorInfo[]> {
    const connected = await this.#options.places?.all();
    return this.list().map((info) => (connected?.has(info.sid) === true ? { ...info, connected: true } : info));
  }

  /** The same with a connection to another node. */
  async infoAnywhere(sid: string): Promise<OperatorInfo | undefined> {
    const info = this.info(sid);
    if (info === undefined || info.connected) return info;
    return (await this.#options.places?.all())?.has(sid) === true ? { ...info, connected: true } : info;
  }

  info(sid: string): OperatorInfo | undefined {
    const session = this.#sessions.get(sid);
    return session === undefined ? undefined : operatorInfo(session);
  }

  /** The id of the API key that the operator joined with; undefined if there is no such operator. */
  keyOf(sid: string): string | undefined {
    return this.#sessions.get(sid)?.row.api_key;
  }

  authenticates(sid: string, token: string): "yes" | "no" | "unknown_sid" {
    return this.#sessions.authenticates(sid, token);
  }

  issueTicket(sid: string): Promise<OperatorTicket> {
    const session = this.#sessions.get(sid);
    if (session === undefined) throw new TuttiError("not_found", `there is no operator ${sid}; join again`);
    return issueTicket(this.#options, session.row);
  }

  redeemTicket(sid: string, ticket: string): Promise<boolean> {
    return redeemTicket(this.#options, { sid, ticket });
  }

  /** Ends the operator session. Returns false if there is none with this sid. */
  async leave(sid: string, reason: string): Promise<boolean> {
    // Its open gates refuse, so they have to be known. Right after a start they may not be read yet.
    await this.#intake.caughtUp();
    return this.#end(sid, reason);
  }

  async #end(sid: string, reason: string): Promise<boolean> {
    const session = this.#sessions.get(sid);
    if (session === undefined) return false;
    this.#sessions.remove(session);
    await Promise.all([...this.#router.release(session, reason), this.#options.committed()]);
    session.connection?.close(1000, "operator session torn down");
    this.#options.log.info({ sid, reason }, "an operator left");
    return true;
  }

  /**
   * An API key was just revoked: ends its operator sessions, and tells the tasks that its workers had. To be called in the
   * tick of the revocation, so that all of it is in the same commit.
   */
  async endRightsOfKey(apiKey: string): Promise<void> {
    const held = this.#options.records.leasesOfKey(apiKey);
    const sessions = this.#sessions.known().filter(({ row }) => row.api_key === apiKey);
    await Promise.all([...tellRightsEnded(this.#options, held), ...sessions.map((each) => this.#endRevoked(each))]);
  }

  /** The same for keys that were revoked before the tasks were taken up, by this process or the one before. */
  async endRevokedRights(): Promise<void> {
    const { keys, records } = this.#options;
    const sessions = this.#sessions.known().filter(({ row }) => keys.isRevoked(row.api_key));
    const held = records.revokedLeases();
    await Promise.all([...tellRightsEnded(this.#options, held), ...sessions.map((each) => this.#endRevoked(each))]);
  }

  /** Other nodes changed rows that all nodes share: operators that joined, left or were sent something elsewhere. */
  followShared(changes: readonly SharedChange[]): void {
    if (this.#closed) return;
    runLogged(this.#options.log, "following what other nodes did with operators", () => this.#follow(changes));
  }

  #follow(changes: readonly SharedChange[]): void {
    let joined = false;
    for (const { name, row, gone } of changes) {
      if (name === "operators" && !gone) joined = !this.#sessions.seenElsewhere(String(row["sid"])) || joined;
      else if (name === "operators") this.#endedElsewhere(String(row["sid"]));
      else if (name === "operator_places" && !gone)
        this.#replacedElsewhere(String(row["sid"]), String(row["connection"]));
      else if (name === "sent" && gone) this.#router.onSentRemoved(Number(row["wait"]));
    }
    if (joined) this.#router.routeAllUnassigned();
  }

  #replacedElsewhere(sid: string, connection: string): void {
    const session = this.#sessions.knownAs(sid);
    if (session?.place === undefined || !isReplaced(session.place, connection)) return;
    const older = session.connection;
    // The operator is still there, so nothing that waits for it moves on.
    session.connection = undefined;
    session.place = undefined;
    older?.close(4001, "replaced by a newer connection");
  }

  #endedElsewhere(sid: string): void {
    const session = this.#sessions.removedElsewhere(sid);
    if (session === undefined) return;
    session.connection?.close(1000, "operator session torn down");
    const releasing = this.#router.releaseEndedElsewhere(session);
    Promise.all(releasing).catch((thrown: unknown) => this.#warn("releasing the requests of an operator", thrown));
  }

  async #endRevoked({ row }: OperatorSession): Promise<void> {
    // At once, whatever is known of its requests: nobody may be let in with that key any more.
    await this.#end(row.sid, "its key was revoked");
  }

  /** A reply that did not come over a socket, of an operator that has been authenticated. Returns why it was not taken. */
  async reply(sid: string, frame: ClientFrame): Promise<ErrorFrame | undefined> {
    const session = this.#sessions.get(sid);
    if (session === undefined) throw new TuttiError("not_found", `there is no operator ${sid}; join again`);
    this.#touch(session);
    return deliverReply(this.#options, session, frame);
  }

  /** Takes over the open WebSocket of an operator that has been authenticated. */
  connect(sid: string, socket: OperatorSocket): void {
    const session = this.#sessions.get(sid);
    if (this.#closed) return this.#connections.refuse(socket, 1001, "going away");
    if (session === undefined) return this.#connections.refuse(socket, 1000, "operator session torn down");
    this.#connections.add(session, socket);
    const { places } = this.#options;
    if (places !== undefined) {
      session.place = { connection: randomUUID(), recorded: false };
      places.connected(sid, session.place.connection);
    }
    this.#touch(session);
    // It may have joined at another node.
    for (const address of [anyOperator, sid, ...session.row.roles]) this.#router.routeUnassigned(address);
    this.#sender.deliver(session);
  }

  /** Closes all connections. Operator sessions and their requests stay for the next start. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const stop of this.#stops) stop();
    await this.#connections.close();
  }

  #onText(session: OperatorSession, text: string): void {
    const { connection } = session;
    if (connection === undefined || !this.#sessions.isCurrent(session)) return;
    const read = readClientFrame(text);
    const refused = read.ok ? deliverReply(this.#options, session, read.frame) : Promise.resolve(read.error);
    this.#tellRefused(session, refused).catch((thrown: unknown) => {
      // The engine is stopping. The request stays open and is sent again over the next connection.
      const { sid } = session.row;
      this.#options.log.warn({ sid, err: toTuttiError(thrown) }, "an operator's reply could not be delivered");
      connection.terminate();
    });
  }

  /** A reply that cannot be used is named; an operator that knows no errors is asked again. */
  async #tellRefused(session: OperatorSession, refused: Promise<ErrorFrame | undefined>): Promise<void> {
    const { connection } = session;
    const error = await refused;
    if (error === undefined) return;
    if (connection?.knowsErrors === true) return connection.sendError(error);
    const isAsked = await askAgain(this.#options, session, error);
    const { sid } = session.row;
    if (!isAsked)
      this.#options.log.info({ sid, code: error.code, req_id: error.req_id }, "a reply of an operator was not used");
  }

  #onDisconnect(session: OperatorSession): void {
    if (this.#closed || !this.#sessions.isCurrent(session)) return;
    this.#touch(session);
    const { place } = session;
    session.place = undefined;
    if (place !== undefined) this.#options.places?.disconnected(session.row.sid, place.connection);
    runLogged(this.#options.log, "moving an operator's requests", () => this.#router.moveUnsent(session));
  }

  #warn(what: string, thrown: unknown): void {
    this.#options.log.warn({ err: toTuttiError(thrown) }, `${what} failed`);
  }

  #touch(session: OperatorSession): void {
    runLogged(this.#options.log, "recording when an operator was seen", () => this.#sessions.touch(session));
  }
}
