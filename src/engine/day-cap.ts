// The user's caps of a day over all work of a state: what this process holds and used of it, and how it takes more (invariant 7).

import { accountKinds, type AccountKind } from "../core/account.ts";
import {
  type Amounts,
  amountsOf,
  dayOf,
  DayLedger,
  type DayLimits,
  type DayReached,
  each,
  fitsAlone,
  joinDay,
  leaveDay,
  newDay,
  nothing,
  type Process,
  startOfDay,
  takeFor,
  usedIn,
} from "../core/day-ledger.ts";
import { choiceIn, type DayChoice } from "../core/day-question.ts";
import { TuttiError } from "../protocol/error.ts";
import { parseJson } from "../protocol/json/parse-json.ts";
import type { Usage } from "../protocol/task/budget.ts";
import type { Clock } from "../ports.ts";

/** The record that all processes of a state share. */
export interface DayRecord {
  read(): string | undefined;
  /** From what it was to what it becomes, or not at all; `work` may be called again with what another process left. */
  change<T>(work: (before: string | undefined) => { readonly after?: string; readonly result: T }): Promise<T>;
  /** What the records of all tasks say was used since then. */
  usedSince(at: number): Promise<Amounts>;
  /** Whether the question is open, in whichever process. */
  isOpen(ask: string): Promise<boolean>;
}

export interface DayCapOptions {
  readonly clock: Clock;
  readonly record: DayRecord;
  readonly process: Process;
}

/** How the day stands, for people. */
export interface DayUse {
  readonly limits: DayLimits;
  readonly raised: Amounts;
  readonly spent: Amounts;
  readonly reserved: Amounts;
  readonly decision: DayLedger["decision"];
  readonly until: number;
}

/** What somebody who asked is to be found again by, before the question is there. */
const claimMs = 60_000;

/** The least that has to be there for work of which nobody knows what it will use. */
export const leastUsage: Usage = { input_tokens: 1, output_tokens: 0, money_micro_usd: 1 };

export class DayCap {
  readonly #clock: Clock;
  readonly #record: DayRecord;
  readonly #process: Process;
  readonly #listeners = new Set<() => void>();
  #limits: DayLimits = {};
  #isOn = false;
  #day: number;
  #version = 0;
  #held: Amounts = nothing;
  #used: Amounts = nothing;
  /** As this process last saw it, of this day; undefined until it has taken something. */
  #ledger: DayLedger | undefined;
  /** Changes of the record, one after the other. */
  #last: Promise<unknown> = Promise.resolve();

  constructor({ clock, record, process }: DayCapOptions) {
    this.#clock = clock;
    this.#record = record;
    this.#process = process;
    this.#day = dayOf(clock.now());
  }

  get isOn(): boolean {
    return this.#isOn;
  }

  /** When the day is over. */
  get until(): number {
    return startOfDay(dayOf(this.#clock.now()) + 1);
  }

  /** The user's own config says something else now. */
  setLimits(limits: DayLimits): void {
    if (accountKinds.every((kind) => limits[kind] === this.#limits[kind])) return;
    this.#limits = limits;
    this.#isOn = accountKinds.some((kind) => limits[kind] !== undefined);
    // What was used while there was no cap is not in the record.
    this.#ledger = undefined;
    this.#changed();
  }

  /** True when the amount is held, at once: nothing is in the way, or what was taken is enough. */
  tryHold(usage: Usage): boolean {
    this.#turnDay();
    const amounts = amountsOf(usage);
    if (this.#isOn && !this.#isTaken(amounts)) return false;
    this.#held = each((kind) => this.#held[kind] + amounts[kind]);
    return true;
  }

  settle(held: Usage, used: Usage): void {
    this.#turnDay();
    const [before, after] = [amountsOf(held), amountsOf(used)];
    this.#held = each((kind) => Math.max(0, this.#held[kind] - before[kind]));
    this.#used = each((kind) => this.#used[kind] + after[kind]);
    this.#changed();
  }

  /** False once a cap is used up, as far as this process knows: work whose use is told afterwards stops there. */
  get hasLeft(): boolean {
    if (!this.#isOn) return true;
    this.#turnDay();
    return this.#fits(leastUsage);
  }

  /**
   * Takes what the call needs. The cap that is in the way; `soon` when it is enough to wait for calls of this process that are
   * under way; undefined when it can be held now.
   */
  take(usage: Usage): Promise<DayReached | "soon" | undefined> {
    return this.#inTurn(async () => {
      this.#turnDay();
      const amounts = amountsOf(usage);
      if (!this.#isOn || this.#isTaken(amounts)) return undefined;
      const need = { used: this.#used, held: this.#held, wanted: amounts };
      const reached = await this.#change((ledger) => {
        const taken = takeFor(ledger, this.#process, this.#limits, need);
        return "ledger" in taken ? { ledger: taken.ledger, result: undefined } : { ledger, result: taken.reached };
      });
      return reached !== undefined && this.#fits(usage) ? "soon" : reached;
    });
  }

  /** Whether the call would fit, once what is under way here has ended. */
  fits(usage: Usage): boolean {
    this.#turnDay();
    return !this.#isOn || this.#fits(usage);
  }

  get decision(): DayLedger["decision"] {
    return this.#known()?.decision;
  }

  get isClaimed(): boolean {
    return this.#known()?.claim !== undefined;
  }

  /** True when `by` is to ask the person; false when somebody else does, or the person has decided. */
  async claim(by: string): Promise<boolean> {
    const there = this.#known()?.claim;
    const isStale = there !== undefined && there.by !== by && !(await this.#isAsking(there));
    return this.#inTurn(() =>
      this.#change((ledger) => {
        const { claim, decision } = ledger;
        if (decision !== undefined) return { ledger, result: false };
        if (claim?.by === by && claim.process === this.#process.id) return { ledger, result: true };
        const isFree = claim === undefined || claim.by === by || (isStale && claim.by === there?.by);
        if (!isFree) return { ledger, result: false };
        const ask = claim?.by === by && claim.ask !== undefined ? { ask: claim.ask } : {};
        const made = { by, process: this.#process.id, at: this.#clock.now(), ...ask };
        return { ledger: { ...ledger, claim: made }, result: true };
      }),
    );
  }

  async #isAsking({ process, at, ask }: NonNullable<DayLedger["claim"]>): Promise<boolean> {
    // One of this process takes its claim back itself.
    if (process === this.#process.id) return true;
    return ask === undefined ? this.#clock.now() - at < claimMs : this.#record.isOpen(ask);
  }

  /** The question is there. */
  asked(by: string, ask: string): Promise<void> {
    return this.#changeClaim(
      (claim) => claim.by === by,
      (ledger, claim) => ({ ...ledger, claim: { ...claim, ask } }),
    );
  }

  /** Whoever was to ask has ended before there was a question. */
  giveUp(by: string): Promise<void> {
    return this.#changeClaim((claim) => claim.by === by && claim.ask === undefined, unclaimed);
  }

  /** The question was answered, or is closed; applied once. */
  closed(ask: string, choice: DayChoice | undefined): Promise<void> {
    return this.#changeClaim(
      (claim) => claim.ask === ask,
      (ledger) => choiceIn(unclaimed(ledger), choice),
    );
  }

  #changeClaim(
    isIt: (claim: NonNullable<DayLedger["claim"]>) => boolean,
    work: (ledger: DayLedger, claim: NonNullable<DayLedger["claim"]>) => DayLedger,
  ): Promise<void> {
    return this.#inTurn(() =>
      this.#change((ledger) => {
        const { claim } = ledger;
        const after = claim !== undefined && isIt(claim) ? work(ledger, claim) : ledger;
        return { ledger: after, result: undefined };
      }),
    );
  }

  /** Another process has changed the record. */
  follow(): void {
    if (this.#isOn && this.#ledger !== undefined) this.#saw(parsed(this.#record.read()));
  }

  /** Called when what is in the way may have changed; the returned function ends that. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Grows with every change. */
  get version(): number {
    return this.#version;
  }

  /** Resolves when something has changed since that version. */
  changedSince(version: number): Promise<void> {
    if (version !== this.#version) return Promise.resolve();
    return new Promise((resolve) => {
      const off = this.onChange(() => {
        off();
        resolve();
      });
    });
  }

  /** Resolves when every change that was begun is in the record. */
  async quiet(): Promise<void> {
    await this.#last;
  }

  /** As the user's config has it. */
  limitOf(kind: AccountKind): number {
    return this.#limits[kind] ?? 0;
  }

  /** Undefined when there is no cap. */
  async use(): Promise<DayUse | undefined> {
    if (!this.#isOn) return undefined;
    await this.#inTurn(async () => {
      this.#turnDay();
      if (this.#ledger === undefined) await this.#change((ledger) => ({ ledger, result: undefined }));
    });
    const ledger = this.#known() ?? newDay(this.#day);
    const { raised, decision } = ledger;
    return {
      limits: this.#limits,
      raised,
      decision,
      until: this.until,
      ...usedIn(ledger, this.#process.id, { held: this.#held, used: this.#used }),
    };
  }

  /** The process ends: what it does not use is free again. */
  async close(): Promise<void> {
    if (this.#ledger === undefined) return;
    const need = { held: this.#held, used: this.#used };
    await this.#inTurn(() =>
      this.#change((ledger) => ({ ledger: leaveDay(ledger, this.#process, need), result: undefined })),
    );
  }

  #isTaken(more: Amounts): boolean {
    const taken = this.#known()?.takers[this.#process.id]?.taken;
    return accountKinds.every((kind) => {
      if (this.#limits[kind] === undefined || more[kind] === 0) return true;
      return this.#used[kind] + this.#held[kind] + more[kind] <= (taken?.[kind] ?? 0);
    });
  }

  #fits(usage: Usage): boolean {
    const ledger = this.#known();
    if (ledger === undefined) return true;
    const need = { used: this.#used, wanted: amountsOf(usage) };
    return fitsAlone(ledger, this.#process.id, this.#limits, need);
  }

  #known(): DayLedger | undefined {
    this.#turnDay();
    return this.#ledger;
  }

  /** What is under way goes over into the new day, because it ends there. */
  #turnDay(): void {
    const day = dayOf(this.#clock.now());
    if (day === this.#day) return;
    this.#day = day;
    this.#used = nothing;
    this.#ledger = undefined;
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work, work);
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  async #change<T>(work: (ledger: DayLedger) => { readonly ledger: DayLedger; readonly result: T }): Promise<T> {
    const [day, isJoined] = [this.#day, this.#ledger !== undefined];
    const own = this.#used;
    const recorded = isJoined ? nothing : await this.#record.usedSince(startOfDay(day));
    const others: Amounts = each((kind: AccountKind) => Math.max(0, recorded[kind] - own[kind]));
    const { ledger, result } = await this.#record.change((before) => {
      const there = parsed(before);
      const today = there?.day === day ? there : newDay(day);
      const joined = isJoined ? today : joinDay(today, this.#process, others);
      const made = work(joined);
      const after = `${JSON.stringify(made.ledger)}\n`;
      return { ...(after === before ? {} : { after }), result: made };
    });
    this.#saw(ledger);
    return result;
  }

  #saw(ledger: DayLedger | undefined): void {
    if (ledger?.day !== this.#day) return;
    const isNew = JSON.stringify(ledger) !== JSON.stringify(this.#ledger);
    this.#ledger = ledger;
    if (isNew) this.#changed();
  }

  #changed(): void {
    this.#version += 1;
    if (this.#listeners.size === 0) return;
    for (const listener of this.#listeners) listener();
  }
}

function unclaimed(ledger: DayLedger): DayLedger {
  const { claim, ...rest } = ledger;
  return claim === undefined ? ledger : rest;
}

function parsed(text: string | undefined): DayLedger | undefined {
  if (text === undefined) return undefined;
  const { data } = DayLedger.safeParse(parseJson(text));
  if (data !== undefined) return data;
  const message =
    "day-limits.json cannot be read, so nobody knows what was used today; remove it, and it is counted anew";
  throw new TuttiError("corrupt", message);
}

/** Holds nobody back. */
export function noDayCap(clock: Clock): DayCap {
  const record: DayRecord = {
    read: () => undefined,
    change: async (work) => work(undefined).result,
    usedSince: async () => nothing,
    isOpen: async () => false,
  };
  return new DayCap({ clock, record, process: { id: "", node: "" } });
}
