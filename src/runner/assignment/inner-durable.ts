// The port of the inner runner of an assignment: what the wrapper needs to know is kept beside what the inner runner saves.

import type { Durable, GivenUp, OwnEvent, RunningStep, Schema, StepOptions } from "../../ports.ts";
import type { TaskEvent } from "../../protocol/task/event.ts";
import { withParts } from "../shared/with-parts.ts";
import type { Message } from "../../protocol/task/message.ts";
import { Kept } from "./attempt-records.ts";
import type { Standing } from "./config.ts";
import { type Effort, EffortLog } from "./session-effort.ts";

type SavedWork = Extract<TaskEvent, { type: "session.saved" }>["data"];

export interface InnerPort {
  readonly durable: Durable;
  /** The work that the inner runner saved last. */
  readonly saved: () => SavedWork | undefined;
  /** What a coding agent told of its calls. Undefined when no session ran in this process. */
  readonly effort: () => Effort | undefined;
}

interface InnerOptions {
  readonly standing: Standing;
  readonly input: unknown;
  /** Completes what the inner runner says when it gives its attempt up: the next attempt is an assignment, too. */
  readonly givenUp: (why: GivenUp) => GivenUp;
}

export function innerPort(durable: Durable, { standing, input, givenUp }: InnerOptions): InnerPort {
  let saved: SavedWork | undefined;
  let log: EffortLog | undefined;
  const listener: Listener = {
    told(event) {
      if (event.type === "session.started") log ??= new EffortLog();
    },
    said: (message) => log?.add(message),
  };
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
    step: <T>(key: string, wanted: StepOptions<T>, body: (context: RunningStep) => Promise<T> | T) =>
      durable.step(key, wanted, (context) => body(listening(context, listener))),
    again: (key: string, why: GivenUp) => durable.again(key, givenUp(why)),
  };
  return { durable: withParts(durable, replaced), saved: () => saved, effort: () => log?.effort };
}

interface Listener {
  told(event: OwnEvent): void;
  said(message: Message): void;
}

/** The context of a step whose events and messages are heard as they come. */
function listening(context: RunningStep, listener: Listener): RunningStep {
  const during = withParts(context.during, {
    tell(key: string, event: OwnEvent) {
      listener.told(event);
      context.during.tell(key, event);
    },
    say(key: string, message: Message) {
      listener.said(message);
      return context.during.say(key, message);
    },
  });
  return withParts(context, { during });
}
