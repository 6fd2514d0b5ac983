// The requests that wait for operators, as the store has them, and the operator session each is assigned to.

import type { OperatorSession, PendingRequest } from "./session-state.ts";

/** An index over open waits: after a restart it is built from the store again. */
export class OpenRequests {
  readonly #all = new Map<number, PendingRequest>();
  /** By address. */
  readonly #unassigned = new Map<string, Set<PendingRequest>>();

  get(id: number): PendingRequest | undefined {
    return this.#all.get(id);
  }

  /** False if it is known already. */
  add(request: PendingRequest): boolean {
    if (this.#all.has(request.id)) return false;
    this.#all.set(request.id, request);
    return true;
  }

  /** Its wait is settled: nobody is asked any more. */
  remove(id: number): void {
    const request = this.#all.get(id);
    if (request === undefined) return;
    this.#all.delete(id);
    request.session?.requests.delete(id);
    request.session?.connection?.sentWaits.delete(id);
    this.#removeUnassigned(request);
  }

  assign(request: PendingRequest, session: OperatorSession): void {
    this.#removeUnassigned(request);
    request.session = session;
    session.requests.set(request.id, request);
  }

  /** Nobody with its address is there. */
  unassign(request: PendingRequest): void {
    request.session?.requests.delete(request.id);
    request.session = undefined;
    const unassigned = this.#unassigned.get(request.address) ?? new Set();
    this.#unassigned.set(request.address, unassigned);
    unassigned.add(request);
  }

  /** In the order in which they are to be sent. */
  unassignedFor(address: string): PendingRequest[] {
    return [...(this.#unassigned.get(address) ?? [])].toSorted((a, b) => a.id - b.id);
  }

  /** The addresses of requests that nobody is there for. */
  unassignedAddresses(): string[] {
    return [...this.#unassigned.keys()];
  }

  /** An address may be a sid, which is never used again, so an empty set is not kept. */
  #removeUnassigned(request: PendingRequest): void {
    const unassigned = this.#unassigned.get(request.address);
    unassigned?.delete(request);
    if (unassigned?.size === 0) this.#unassigned.delete(request.address);
  }
}
