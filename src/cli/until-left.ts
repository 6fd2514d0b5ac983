// Follows work that a daemon does until it ends or the person leaves: Ctrl-C closes the connection and nothing else.
import type { Tutti } from "../client/client.ts";
import { commandLine, interruptedStatus } from "./connect.ts";
import { note } from "./terminal/screen.ts";
import { dim } from "./terminal/style.ts";

export interface Leaving {
  /** `--state` as it was given. */
  readonly state: string | undefined;
  /** The task or the goal that the person comes back to. */
  readonly id: string;
}

export async function untilLeft(tutti: Tutti, { state, id }: Leaving, follow: () => Promise<void>): Promise<void> {
  let left = false;
  const leave = (): void => {
    left = true;
    process.exitCode = interruptedStatus;
    void tutti.close().catch(() => undefined);
  };
  process.once("SIGINT", leave);
  process.once("SIGTERM", leave);
  try {
    await follow();
  } catch (thrown) {
    if (!left) throw thrown;
  } finally {
    process.off("SIGINT", leave);
    process.off("SIGTERM", leave);
  }
  if (left) note(dim(`\nleft; it goes on, come back with \`${commandLine(state, `attach ${id}`)}\``));
}
