// Waits for something on behalf of an MCP client: never longer than it asked for, with a sign of life now and then.

import type { McpCall } from "./mcp-tool.ts";

/** Clients give a call up after a minute without a sign of life, unless progress begins that minute anew. */
const signOfLifeMs = 5_000;
const firstSignMs = 1_000;

/** The longest time that one call waits. The caller calls again to go on waiting. */
export const longestWaitMs = 10 * 60_000;

export type Waited<T> = { readonly value: T } | { readonly timedOut: true };

/** `wait` gets a signal that is aborted at the end of the time; what it throws then is not an error. */
export async function boundedWait<T>(
  call: Pick<McpCall, "signal" | "progress">,
  { ms, waitingFor }: { readonly ms: number; readonly waitingFor: string },
  wait: (signal: AbortSignal) => Promise<T>,
): Promise<Waited<T>> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), ms);
  const began = performance.now();
  const tell = (): void => {
    call.progress(`waiting for ${waitingFor}, for ${Math.round((performance.now() - began) / 1000)} s`);
  };
  const first = setTimeout(tell, firstSignMs);
  const alive = setInterval(tell, signOfLifeMs);
  try {
    return { value: await wait(AbortSignal.any([call.signal, limit.signal])) };
  } catch (thrown) {
    if (limit.signal.aborted && !call.signal.aborted) return { timedOut: true };
    throw thrown;
  } finally {
    clearTimeout(timer);
    clearTimeout(first);
    clearInterval(alive);
  }
}
