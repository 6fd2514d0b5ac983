// Short messages at the edge of the page: what was done, and what could not be done and why.

import { type ReactNode, useSyncExternalStore } from "react";

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly bad: boolean;
}

let toasts: readonly Toast[] = [];
let last = 0;
const listeners = new Set<() => void>();

function set(next: readonly Toast[]): void {
  toasts = next;
  for (const listener of listeners) listener();
}

export function tell(text: string, bad = false): void {
  last += 1;
  const toast = { id: last, text, bad };
  set([...toasts.slice(-3), toast]);
  setTimeout(() => set(toasts.filter(({ id }) => id !== toast.id)), bad ? 9_000 : 4_000);
}

/** Runs what a person asked for, and tells what became of it. Undefined when it could not be done. */
export async function attempt<T>(work: () => Promise<T>, done?: string): Promise<T | undefined> {
  try {
    const value = await work();
    if (done !== undefined) tell(done);
    return value;
  } catch (thrown) {
    tell(thrown instanceof Error ? thrown.message : String(thrown), true);
    return undefined;
  }
}

export function Toasts(): ReactNode {
  const shown = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => toasts,
  );
  return (
    <div className="toasts" role="status" aria-live="polite">
      {shown.map(({ id, text, bad }) => (
        <div key={id} className={`toast ${bad ? "bad" : ""}`}>
          {text}
        </div>
      ))}
    </div>
  );
}
