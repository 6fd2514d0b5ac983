// An operator in the cuts: one session whose connections are cut and taken over, and which answers every request once.

import { setTimeout as sleep } from "node:timers/promises";

import { WebSocket } from "ws";

import type { ClientFrame, ServerFrame, SpawnFrame } from "../../../src/protocol/operator/frames.ts";
import type { JoinedOperator } from "../../../src/protocol/operator/operator-session.ts";
import { frameIn } from "../wire-operator.ts";
import { count, fault } from "./cuts-ledger.ts";
import { type Fetched, placeOf, workOn } from "./cuts-worker.ts";
import { refusal, refusedAgent } from "./cuts-invocations.ts";
import type { CutsRun } from "./cuts-run.ts";

type Request = Exclude<ServerFrame, { type: "error" | "hook_after" }>;

interface Connection {
  readonly socket: WebSocket;
  /** Before the first byte of it was sent. */
  readonly begunAt: number;
  /** Whether another connection of this operator was opened since. */
  takenOver: boolean;
}

/** A reply that went out this recently may have been lost with its connection. */
const doubtMs = 2_500;
const ends = { goingAway: 1001, lost: 1006, replaced: 4001 };
export const changedMind = "changed its mind";

export class CutOperator {
  readonly #run: CutsRun;
  readonly #joined: JoinedOperator;
  readonly #fetched: Fetched;
  readonly #connections = new Set<Connection>();
  readonly #replies = new Map<string, { readonly frame: ClientFrame; at: number }>();
  readonly #working = new Set<string>();
  readonly #misfits = new Set<string>();
  /** Requests by what they are for: the same one keeps its name. */
  readonly #names = new Map<string, string>();
  readonly #informed = new Set<string>();
  #closed = false;
  #opening = false;

  constructor(run: CutsRun, joined: JoinedOperator, fetched: Fetched) {
    this.#run = run;
    this.#joined = joined;
    this.#fetched = fetched;
    void this.#stayConnected();
  }

  /** Pulls the cable of whatever is connected. */
  drop(): void {
    for (const { socket } of this.#connections) socket.terminate();
  }

  /** Opens another connection while there is one. */
  async takeOver(): Promise<void> {
    await this.#open();
  }

  close(): void {
    this.#closed = true;
    this.drop();
  }

  async #stayConnected(): Promise<void> {
    while (!this.#closed) {
      if (this.#connections.size === 0 && !this.#opening) await this.#open();
      await sleep(this.#run.between(5, 60));
    }
  }

  async #open(): Promise<void> {
    const { sid, token } = this.#joined;
    this.#opening = true;
    const begunAt = performance.now();
    const address = `${this.#run.daemon.url.replace("http", "ws")}/v1/operators/${sid}/ws`;
    const headers = { authorization: `Bearer ${token}` };
    const options = { headers, perMessageDeflate: false, handshakeTimeout: 5_000 };
    const socket = new WebSocket(address, ["tutti.v1"], options);
    const connection: Connection = { socket, begunAt, takenOver: false };
    await new Promise<void>((resolve) => {
      socket.on("error", () => resolve());
      socket.on("unexpected-response", (_, { statusCode }) => {
        if (statusCode !== 503) fault(this.#run.ledger, "lost", `the operator ${sid} was answered ${statusCode}`);
        socket.terminate();
        resolve();
      });
      socket.on("close", (code) => {
        this.#ended(connection, code);
        resolve();
      });
      socket.on("message", (data) => void this.#hear(connection, frameIn(data)));
      socket.on("open", () => {
        this.#opened(connection);
        resolve();
      });
    });
    this.#opening = false;
  }

  #opened(connection: Connection): void {
    count(this.#run.ledger, "operator connections");
    for (const other of this.#connections) other.takenOver = true;
    this.#connections.add(connection);
    for (const [reqId, { at }] of this.#replies) {
      if (performance.now() - at < doubtMs) this.#reply(reqId);
    }
  }

  #ended(connection: Connection, code: number): void {
    if (!this.#connections.delete(connection)) return;
    if (code === ends.replaced) count(this.#run.ledger, "taken over");
    const expected = connection.takenOver ? [ends.replaced, ends.lost, ends.goingAway] : [ends.goingAway, ends.lost];
    if (!expected.includes(code)) fault(this.#run.ledger, "lost", `an operator's connection ended with ${code}`);
  }

  async #hear(connection: Connection, frame: ServerFrame): Promise<void> {
    const { ledger } = this.#run;
    if (frame.type === "error") {
      const { code, req_id = "", message } = frame;
      count(ledger, `frame ${code}`);
      const mayBe =
        code === "already_answered" || code === "late" || (code === "wrong_kind" && this.#misfits.has(req_id));
      if (!mayBe) fault(ledger, "lost", `an operator was told ${code} of ${req_id}: ${message}`);
      return;
    }
    if (frame.type === "hook_after") {
      if (this.#informed.has(placeOf(frame))) fault(ledger, "doubled", `hook_after of ${placeOf(frame)} came twice`);
      this.#informed.add(placeOf(frame));
      return count(ledger, "hook_after");
    }
    this.#checkRequest(connection, frame);
    const { req_id } = frame;
    if (this.#working.has(req_id)) return;
    if (!this.#replies.has(req_id)) {
      this.#working.add(req_id);
      const reply = await this.#carryOut(frame);
      this.#replies.set(req_id, { frame: reply, at: performance.now() });
      this.#working.delete(req_id);
    }
    this.#misbehave(frame);
    this.#reply(req_id);
    if (frame.type === "hook_before" && this.#run.chance(0.2)) {
      // Whatever the first one said stands.
      this.#send({ type: "hook_ack", req_id, ok: false, reason: changedMind });
    }
    if (this.#run.chance(0.05)) this.drop();
  }

  #checkRequest({ begunAt }: Connection, frame: Request): void {
    const { ledger } = this.#run;
    const { type, task_id, req_id } = frame;
    count(ledger, frame.redelivered === true ? `${type} again` : type);
    if (frame.deadline === undefined) fault(ledger, "lost", `${type} of ${task_id} says no deadline`);
    if (type === "ask") return;
    const place = `${type} ${placeOf(frame)}`;
    const name = this.#names.get(place);
    if (name === undefined) this.#names.set(place, req_id);
    else if (name !== req_id) fault(ledger, "doubled", `${place} came as ${name} and as ${req_id}`);
    else if (frame.redelivered !== true) fault(ledger, "doubled", `${place} came again and does not say so`);
    const fetchedAt = type === "spawn" ? this.#fetched.get(placeOf(frame)) : undefined;
    if (fetchedAt !== undefined && fetchedAt < begunAt) {
      fault(ledger, "doubled", `${place} was offered again after its prompt had been fetched`);
    }
  }

  async #carryOut(frame: Request): Promise<ClientFrame> {
    const { req_id } = frame;
    switch (frame.type) {
      case "ask":
        await sleep(this.#run.between(0, 150));
        return { type: "answer", req_id, value: answerTo(frame.question, this.#run) };
      case "hook_before":
        if (frame.agent === refusedAgent) return { type: "hook_ack", req_id, ok: false, reason: refusal };
        return { type: "hook_ack", req_id, ok: true };
      case "spawn":
        await this.#launch(frame);
        return { type: "spawn_ack", req_id, value: {}, ok: true };
    }
  }

  /** Now and then two workers are let loose on the same spawn: one result counts. */
  async #launch(frame: SpawnFrame): Promise<void> {
    const workers = this.#run.chance(0.15) ? 2 : 1;
    await Promise.all(Array.from({ length: workers }, () => workOn(this.#run, frame, this.#fetched)));
  }

  /** A reply of a wrong kind is refused by name, and the request stays answerable. */
  #misbehave({ type, req_id }: Request): void {
    if (!this.#run.chance(0.08)) return;
    this.#misfits.add(req_id);
    this.#send(type === "ask" ? { type: "hook_ack", req_id, ok: true } : { type: "answer", req_id, value: true });
  }

  #reply(reqId: string): void {
    const reply = this.#replies.get(reqId);
    if (reply === undefined || !this.#send(reply.frame)) return;
    reply.at = performance.now();
    if (this.#run.chance(0.15)) this.#send(reply.frame);
  }

  /** On the newest connection, which is the one that is heard. */
  #send(frame: ClientFrame): boolean {
    const socket = [...this.#connections].at(-1)?.socket;
    if (socket?.readyState !== WebSocket.OPEN) return false;
    socket.send(JSON.stringify(frame));
    return true;
  }
}

/** An approval takes a plain yes or no, a question any text. */
function answerTo(question: unknown, run: CutsRun): unknown {
  const isApproval =
    typeof question === "object" && question !== null && "kind" in question && question.kind === "approval";
  return isApproval ? run.chance(0.5) : run.name("senior");
}
