// Tells the person that work waits because of a pause, since nothing else on the screen would say why it does not go on.
import type { Reader } from "../client/client.ts";
import { commandLine } from "./connect.ts";

export function pauseText(state: string | undefined): string {
  return `paused: nothing new begins until \`${commandLine(state, "resume")}\``;
}

/** How long a run may be silent before we look whether there is a pause. */
const silentMs = 2_000;

export interface PauseWatch {
  /** The run goes on: something of it was heard. */
  readonly heard: () => void;
  stop(): void;
}

/** Calls `tell` once when a run is silent because of a pause, and once more when the pause is over. */
export function watchForPause(reader: Pick<Reader, "paused">, tell: (paused: boolean) => void): PauseWatch {
  let lastHeard = 0;
  let told = false;
  let looking = false;
  const look = async (): Promise<void> => {
    if (looking || (!told && Date.now() - lastHeard < silentMs)) return;
    looking = true;
    try {
      const paused = await reader.paused();
      if (paused !== told) tell(paused);
      told = paused;
    } catch {
      // Whoever follows the run is told what is wrong with the connection.
    } finally {
      looking = false;
    }
  };
  const timer = setInterval(() => void look(), silentMs / 2);
  timer.unref();
  return { heard: () => void (lastHeard = Date.now()), stop: () => clearInterval(timer) };
}
