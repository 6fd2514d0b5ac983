// The requests that wait for operators, as the store has them, and the operator session each is assigned to.

import { taskName } from "../../store/names.ts";
import type { TreeOperators } from "../../protocol/invocation/invocation-file.ts";
import type { Store, WaitRow } from "../../store/store.ts";
import type { OperatorSession, PendingRequest } from "./session-state.ts";
import { requestDetails } from "./request-details.ts";
import { treeOperators } from "./tree-operators.ts";

/** An index over open waits: after a restart it is built from the store again. */
export class OpenRequests {
  readonly #store: Store;
  readonly #operatorsOf: (root: number) => TreeOperators;
  readonly #all = new Map<number, PendingRequest>();
  /** By address. */
  readonly #unassigned = new Map<string, Set<PendingRequest>>();

  constructor(store: Store) {
    this.#store = store;
    this.#operatorsOf = treeOperators(store);
  }

  has(id: number): boolean {
    return this.#all.has(id);
  }

  /** Undefined if the wait is no request to an operator, is known already, or is settled. */
  add(row: WaitRow): PendingRequest | undefined {
    if (this.#all.has(row.id) || this.#store.answer(row.id) !== undefined) return undefined;
    const details = requestDetails(row);
    if (details === undefined) return undefined;
    const address = details.kind === "ask" ? this.#operatorsOf(row.root).senior : details.operator;
    if (address === undefined) return undefined;
    const { agent, attempt } = details.kind === "ask" ? { agent: "", attempt: 0 } : details;
    const request: PendingRequest = {
      id: row.id,
      kind: details.kind,
      address,
      task: taskName(this.#store.salt, row.task),
      taskRow: row.task,
      agent,
      attempt,
      due: row.due,
      session: undefined,
      sent: false,
    };
    this.#all.set(row.id, request);
    return request;
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

  /** An address may be a sid, which is never used again, so an empty set is not kept. */
  #removeUnassigned(request: PendingRequest): void {
    const unassigned = this.#unassigned.get(request.address);
    unassigned?.delete(request);
    if (unassigned?.size === 0) this.#unassigned.delete(request.address);
  }
}
