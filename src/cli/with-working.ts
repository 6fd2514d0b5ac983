// Works on a state folder until the work is done or the person leaves; what was under way then is kept.
import type { Opener, Working } from "../client/client.ts";

import { warn } from "./output.ts";

const interrupted = 130;

/** Ctrl-C ends the process and cancels nothing: the same command goes on with it. */
export async function withWorking(
  opener: Opener,
  place: { readonly state: string; readonly from?: string },
  work: (working: Working) => Promise<void>,
): Promise<void> {
  const { state, ...options } = place;
  const working = await opener.work(state, options);
  for (const { task, runner } of working.parked) {
    warn(`${task} is not finished and stays so: this Tutti has no runner ${runner}; a newer one may have made it`);
  }
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => (closing ??= working.close());
  const leave = (): void => {
    console.error("\ntutti: stopped; what was under way is kept, run the same command again to go on");
    process.exitCode = interrupted;
    void close();
  };
  process.once("SIGINT", leave);
  process.once("SIGTERM", leave);
  try {
    await work(working);
  } catch (thrown) {
    if (closing === undefined) throw thrown;
  } finally {
    process.off("SIGINT", leave);
    process.off("SIGTERM", leave);
    await close();
  }
}
