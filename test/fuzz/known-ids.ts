// The ids that exist in the fuzzed daemon and may be named in requests; each list is bounded, the oldest id goes first.

export interface Operator {
  readonly sid: string;
  readonly token: string;
}

export interface Worker {
  readonly task: string;
  readonly bearer: string;
}

export interface KnownKey {
  readonly id: string;
  readonly key: string;
}

/** Keeps at most `most`. */
export class Few<T> {
  readonly #items: T[] = [];
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  get all(): readonly T[] {
    return this.#items;
  }

  get full(): boolean {
    return this.#items.length >= this.#most;
  }

  add(item: T): void {
    if (this.full) this.#items.shift();
    this.#items.push(item);
  }

  remove(item: T): void {
    const at = this.#items.indexOf(item);
    if (at >= 0) this.#items.splice(at, 1);
  }
}

export interface Known {
  readonly admin: string;
  readonly project: string;
  /** Texts of invocations that work. */
  readonly invocations: readonly string[];
  readonly handoff: string;
  readonly tasks: Few<string>;
  readonly asks: Few<string>;
  readonly waits: Few<string>;
  readonly operators: Few<Operator>;
  readonly workers: Few<Worker>;
  readonly keys: Few<KnownKey>;
  /** How many invocations were taken, and since when. */
  invoked: number;
  readonly since: number;
}

/** A task costs memory for as long as it lives, which is no leak; so they come slowly enough to be over in time. */
export function mayInvoke({ invoked, since }: Known): boolean {
  return invoked < 80 + (2 * (Date.now() - since)) / 1000;
}

export function known(given: Pick<Known, "admin" | "project" | "invocations" | "handoff">): Known {
  return {
    ...given,
    tasks: new Few(100),
    asks: new Few(50),
    waits: new Few(50),
    operators: new Few(20),
    workers: new Few(20),
    keys: new Few(20),
    invoked: 0,
    since: Date.now(),
  };
}

/** Learns from a reply what exists now. */
export function learn(from: Known, operation: string, value: unknown): void {
  const text = (at: unknown, name: string): string | undefined => {
    const found: unknown = typeof at === "object" && at !== null ? Reflect.get(at, name) : undefined;
    return typeof found === "string" ? found : undefined;
  };
  const list = (name: string): readonly unknown[] => {
    const found: unknown = typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
    return Array.isArray(found) ? found : [];
  };
  switch (operation) {
    case "invoke": {
      const task = text(value, "task");
      if (task !== undefined) from.tasks.add(task);
      from.invoked += 1;
      return;
    }
    case "tree":
    case "asks":
    case "waits":
      for (const each of list(operation === "tree" ? "tasks" : operation)) {
        const id = text(each, "id");
        const place = { tree: from.tasks, asks: from.asks, waits: from.waits }[operation];
        if (id !== undefined && !place.all.includes(id)) place.add(id);
      }
      return;
    case "joinOperator": {
      const [sid, token] = [text(value, "sid"), text(value, "token")];
      if (sid !== undefined && token !== undefined) from.operators.add({ sid, token });
      return;
    }
    case "addKey": {
      const [id, key] = [text(value, "id"), text(value, "key")];
      if (id !== undefined && key !== undefined) from.keys.add({ id, key });
      return;
    }
    default:
  }
}
