// Slots: how many tasks run at once, over all trees and in each; trees that wait take turns, and all of them rest in a pause.

/** A place in the queue. One that has left is passed over when its turn comes, so leaving costs nothing. */
export interface Ticket {
  readonly start: () => void;
  gone: boolean;
}

/** One tree's share. */
export interface SlotQueue {
  running: number;
  readonly limit: () => number;
  waiting: Ticket[];
  /** Tickets before this one have had their turn. */
  head: number;
}

export class Slots {
  readonly #limit: number;
  #running = 0;
  #dealing = false;
  #wanted = false;
  /** Trees with tickets waiting, next in turn first. */
  readonly #turns: SlotQueue[] = [];
  #paused = false;
  /** One for everybody who waits for the end of the pause, one for the last slot to be given back. */
  #pauseEnd: PromiseWithResolvers<void> | undefined;
  #emptied: PromiseWithResolvers<void> | undefined;

  constructor(limit: number) {
    this.#limit = limit;
  }

  queue(limit: () => number): SlotQueue {
    return { running: 0, limit, waiting: [], head: 0 };
  }

  /** Undefined when a slot was free and is now taken; otherwise `start` is called, once, when its turn has come. */
  take(queue: SlotQueue, start: () => void): Ticket | undefined {
    const empty = queue.head === queue.waiting.length;
    if (empty && !this.#paused && this.#running < this.#limit && queue.running < queue.limit()) {
      this.#running += 1;
      queue.running += 1;
      return undefined;
    }
    const ticket = { start, gone: false };
    if (empty) this.#turns.push(queue);
    queue.waiting.push(ticket);
    return ticket;
  }

  give(queue: SlotQueue): void {
    this.#running -= 1;
    queue.running -= 1;
    if (this.#running === 0 && this.#emptied !== undefined) {
      this.#emptied.resolve();
      this.#emptied = undefined;
    }
    this.next();
  }

  /** While true nobody is given a slot, and whoever holds one begins nothing more with it. */
  get paused(): boolean {
    return this.#paused;
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.#pauseEnd?.resolve();
    this.#pauseEnd = undefined;
    this.next();
  }

  resumed(): Promise<void> {
    if (!this.#paused) return Promise.resolve();
    this.#pauseEnd ??= Promise.withResolvers();
    return this.#pauseEnd.promise;
  }

  /** Resolves when nobody holds a slot any more; in a pause that is when every step under way has ended. */
  empty(): Promise<void> {
    if (this.#running === 0) return Promise.resolve();
    this.#emptied ??= Promise.withResolvers();
    return this.#emptied.promise;
  }

  /** Starts as many waiting tasks as there are slots, one per tree and turn; also called after a limit was raised. */
  next(): void {
    // A task that starts may wait at once and give its slot back from inside: the round under way goes on, none is nested.
    this.#wanted = true;
    if (this.#dealing) return;
    this.#dealing = true;
    while (this.#wanted) {
      this.#wanted = false;
      this.#deal();
    }
    this.#dealing = false;
  }

  /** Starts nobody until `work` is done: whom it ends must not be started by the slots it frees. */
  hold(work: () => void): void {
    if (this.#dealing) return work();
    this.#dealing = true;
    try {
      work();
    } finally {
      this.#dealing = false;
      if (this.#wanted) this.next();
    }
  }

  #deal(): void {
    let passed = 0;
    while (!this.#paused && this.#running < this.#limit && passed < this.#turns.length) {
      const queue = this.#turns.shift();
      if (queue === undefined) return;
      const full = queue.running >= queue.limit();
      const ticket = full ? undefined : nextTicket(queue);
      if (full || queue.head < queue.waiting.length) this.#turns.push(queue);
      passed = full ? passed + 1 : 0;
      if (ticket === undefined) continue;
      this.#running += 1;
      queue.running += 1;
      ticket.start();
    }
  }
}

function nextTicket(queue: SlotQueue): Ticket | undefined {
  let found: Ticket | undefined;
  while (found === undefined && queue.head < queue.waiting.length) {
    const ticket = queue.waiting[queue.head];
    queue.head += 1;
    if (ticket?.gone === false) found = ticket;
  }
  if (queue.head === queue.waiting.length) {
    queue.waiting = [];
    queue.head = 0;
  }
  return found;
}
