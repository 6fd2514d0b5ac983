// The port of the inner runner of an assignment: what the wrapper needs to know is kept beside what the inner runner saves.

import type { Durable, GivenUp, OwnEvent, Schema } from "../../ports.ts";
import type { TaskEvent } from "../../protocol/task/event.ts";
import { Kept } from "./attempt-records.ts";
import type { Standing } from "./config.ts";

type SavedWork = Extract<TaskEvent, { type: "session.saved" }>["data"];

export interface InnerPort {
  readonly durable: Durable;
  /** The work that the inner runner saved last. */
  readonly saved: () => SavedWork | undefined;
}

interface InnerOptions {
  readonly standing: Standing;
  readonly input: unknown;
  /** Completes what the inner runner says when it gives its attempt up: the next attempt is an assignment, too. */
  readonly givenUp: (why: GivenUp) => GivenUp;
}

export function innerPort(durable: Durable, { standing, input, givenUp }: InnerOptions): InnerPort {
  let saved: SavedWork | undefined;
  const replaced = {
    input,
    save: (key: string, state: unknown) => durable.save(key, { assigned: standing, inner: state }),
    async restore<T>(schema: Schema<T>) {
      const found = await durable.restore(Kept);
      return found?.state.inner === undefined
        ? undefined
        : { state: schema.parse(found.state.inner), messages: found.messages };
    },
    stoppedState<T>(schema: Schema<T>) {
      const inner = durable.stoppedState(Kept)?.inner;
      return inner === undefined ? undefined : schema.parse(inner);
    },
    tell(key: string, event: OwnEvent) {
      if (event.type === "session.saved") saved = event.data;
      durable.tell(key, event);
    },
    again: (key: string, why: GivenUp) => durable.again(key, givenUp(why)),
  };
  const inner = new Proxy(durable, {
    get(target, name) {
      if (Object.hasOwn(replaced, name)) return Reflect.get(replaced, name);
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  return { durable: inner, saved: () => saved };
}
