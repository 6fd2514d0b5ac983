// Works on a state folder in the process of a command, and serves other commands meanwhile, as a daemon would.

import type { LocalWork } from "../../host/host.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { HttpLog } from "../http/context.ts";
import { openState } from "../state/open-state.ts";
import type { State } from "../state/state.ts";
import { removeDaemonFile, writeDaemonFile } from "./daemon-file.ts";
import { adminKeyFile } from "./find-daemon.ts";
import { lastPortOf, listenForRequests } from "./listen-for-requests.ts";
import { decideListening } from "./listen-rules.ts";
import { othersWait, setOthersWait } from "./others-wait.ts";
import { ownProcess } from "./process-identity.ts";
import { watchStateFolder } from "./watch-state-folder.ts";
import { startDaemon } from "./start-daemon.ts";

const noLog: HttpLog = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** How long others may take to read how their work ended, before the process that did it ends. */
const lastReadsMs = 5_000;

/**
 * If another process gave work to this one and some is unfinished at the end, a daemon is started that goes on with it:
 * whoever waits for that work must not be left alone.
 */
export async function workHere(folder: string): Promise<LocalWork> {
  const state = await openState(folder, { resume: "later" });
  let given = othersWait(state);
  let stopped = false;
  const { promise: stopAsked, resolve: askToStop } = Promise.withResolvers<TuttiError | undefined>();
  const from = process.cwd();
  /** What to close if the rest cannot be opened. */
  const opened: (() => Promise<void>)[] = [() => state.close()];
  try {
    await state.keys.ensureAdmin(adminKeyFile(folder));
    const at = decideListening({ tls: false, insecure: false, lastPort: lastPortOf(state) });
    if (!at.ok) throw new TuttiError(at.code, at.message);
    const http = await listenForRequests(
      { ...at, tls: undefined, publicUrl: undefined },
      {
        state,
        from,
        log: noLog,
        notReady: () => undefined,
        onShutdown() {
          stopped = true;
          askToStop(undefined);
        },
        onDone(route) {
          if (route === "invoke" || route === "retry") given = true;
        },
      },
    );
    opened.unshift(() => http.close());
    const { instance, version, started_at } = await state.client.status();
    const { pid, start } = await ownProcess();
    const facts = { url: http.url, instance, started_at, version, command: true };
    writeDaemonFile(folder, { pid, process_start: start, ...facts });
    const watched = watchStateFolder(folder, (error) => {
      stopped = true;
      askToStop(error);
    });
    const close = async () => {
      watched.close();
      if (given && !stopped && !isUnfinished(state)) await http.left(lastReadsMs);
      removeDaemonFile(folder, instance);
      await http.close();
      // Looked at now, since nobody can give more work any longer.
      const isLeft = given && !stopped && isUnfinished(state);
      setOthersWait(state, isLeft);
      // Whoever follows a task in this process is told, too.
      await state.client.close();
      return isLeft ? (await startDaemon({ state: folder, from })).daemon : undefined;
    };
    let closing: ReturnType<typeof close> | undefined;
    const closeOnce = () => (closing ??= close());
    opened.unshift(async () => void (await closeOnce()));
    await state.resume();
    return { tutti: { ...state.client, close: async () => void (await closeOnce()) }, stopAsked, close: closeOnce };
  } catch (thrown) {
    for (const shut of opened) await shut();
    throw thrown;
  }
}

function isUnfinished({ engine }: State): boolean {
  const { pending, running, input_required } = engine.counts();
  return pending + running + input_required > 0;
}
