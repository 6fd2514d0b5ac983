// The requests that wait for an operator, as the store has them: whom each is for, and who holds it.

import { z } from "zod";

import { askView } from "../../engine/event-view.ts";
import { taskName } from "../../store/names.ts";
import { TreeOperators } from "../../protocol/invocation/invocation-file.ts";
import { isOperatorLabel, OperatorRequest } from "../../protocol/operator/operator-request.ts";
import type { WaitRow } from "../../store/store.ts";
import type { StoreView } from "../../store/view.ts";
import type { Request, Session } from "./session.ts";

const WaitBody = z.object({
  ask: z.unknown().optional(),
  label: z.string().optional(),
  details: z.unknown().optional(),
});

/** What kind of request a wait is; undefined when no operator is sent it. */
export function requestDetails(
  row: WaitRow,
): Exclude<OperatorRequest, { kind: "result" }> | { kind: "ask" } | undefined {
  const body = WaitBody.safeParse(JSON.parse(row.body)).data;
  if (body?.ask !== undefined) return { kind: "ask" };
  if (body?.label === undefined || !isOperatorLabel(body.label)) return undefined;
  const details = OperatorRequest.safeParse(body.details).data;
  return details === undefined || details.kind === "result" ? undefined : details;
}

const maxTrees = 1024;
const Root = z.object({ input: z.object({ operators: TreeOperators.optional() }) });

export class OpenRequests {
  readonly #view: StoreView;
  readonly #all = new Map<number, Request>();
  /** By address, those nobody holds. */
  readonly #loose = new Map<string, Set<Request>>();
  readonly #trees = new Map<number, TreeOperators>();

  constructor(view: StoreView) {
    this.#view = view;
  }

  has(id: number): boolean {
    return this.#all.has(id);
  }

  get(id: number): Request | undefined {
    return this.#all.get(id);
  }

  /** The request of an open wait, not known yet; undefined when it is none, is known, or is settled. */
  take(row: WaitRow): Request | undefined {
    if (this.#all.has(row.id) || this.#view.answer(row.id) !== undefined) return undefined;
    const details = requestDetails(row);
    if (details === undefined) return undefined;
    const address = details.kind === "ask" ? this.operatorsOf(row.root).senior : details.operator;
    if (address === undefined) return undefined;
    const { agent, attempt } = details.kind === "ask" ? { agent: "", attempt: 0 } : details;
    const task = taskName(this.#view.salt, row.task);
    const { id, due, task: taskRow } = row;
    const about = { id, kind: details.kind, address, task, taskRow, agent, attempt, due };
    const request: Request = { ...about, session: undefined, sent: false };
    this.#all.set(id, request);
    return request;
  }

  settle(id: number): void {
    const request = this.#all.get(id);
    if (request === undefined) return;
    this.#all.delete(id);
    request.session?.requests.delete(id);
    request.session?.socket?.sent.delete(id);
    this.#pickUp(request);
  }

  /** An address may be a sid, which nobody has again: none is remembered for nothing. */
  #pickUp(request: Request): void {
    const loose = this.#loose.get(request.address);
    loose?.delete(request);
    if (loose?.size === 0) this.#loose.delete(request.address);
  }

  /** Nobody is there for it. */
  lay(request: Request): void {
    request.session = undefined;
    const loose = this.#loose.get(request.address) ?? new Set();
    this.#loose.set(request.address, loose);
    loose.add(request);
  }

  give(request: Request, session: Session): void {
    this.#pickUp(request);
    request.session = session;
    session.requests.set(request.id, request);
  }

  looseFor(address: string): Request[] {
    return [...(this.#loose.get(address) ?? [])].toSorted((a, b) => a.id - b.id);
  }

  /** The open ask as its frame shows it. */
  question(id: number): Record<string, unknown> | undefined {
    const row = this.#view.wait(id);
    const ask = row === undefined ? undefined : askView(this.#view.salt, row);
    if (ask === undefined) return undefined;
    const { kind, question, details, choices, answer_schema, deadline } = ask;
    return {
      kind,
      question,
      ...(details === undefined ? {} : { details }),
      ...(choices === undefined ? {} : { choices }),
      ...(answer_schema === null ? {} : { answer_schema }),
      deadline,
    };
  }

  /** Who has a say in a tree. What a root was given never changes. */
  operatorsOf(root: number): TreeOperators {
    const known = this.#trees.get(root);
    if (known !== undefined) return known;
    const body = this.#view.taskRow(root)?.body;
    const found = (body === undefined ? undefined : Root.safeParse(JSON.parse(body)).data?.input.operators) ?? {};
    const [oldest] = this.#trees.keys();
    if (this.#trees.size >= maxTrees && oldest !== undefined) this.#trees.delete(oldest);
    this.#trees.set(root, found);
    return found;
  }
}
