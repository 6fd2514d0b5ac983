// Passes text that is being written on to whoever listens, without secrets.

import type { LiveDelta } from "../../protocol/task/event.ts";
import type { SecretKeeper } from "../secrets/secret-keeper.ts";

export interface LiveRelay {
  readonly tell: (delta: LiveDelta) => void;
  readonly on: (listener: (delta: LiveDelta) => void) => () => void;
}

/** Text goes through the stream also while nobody listens: whoever begins to listen inside of a secret is not shown the rest of it. */
export function liveRelay(secrets: SecretKeeper): LiveRelay {
  const listeners = new Set<(delta: LiveDelta) => void>();
  const tell = (delta: LiveDelta): void => {
    const { task, attempt, run, key, channel } = delta;
    const text = secrets.stream.push(`${task} ${attempt} ${run} ${key} ${channel}`, delta.text);
    if (text !== "") for (const listener of listeners) listener({ ...delta, text });
  };
  const on = (listener: (delta: LiveDelta) => void): (() => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  return { tell, on };
}
