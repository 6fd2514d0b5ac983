// What a command that follows work does when the daemon is gone: it says so at once, and starts one that crashed again.
import type { Host } from "../host/host.ts";
import { TuttiError } from "../protocol/error.ts";
import { commandLine, type ConnectOptions } from "./connect.ts";
import { stateFolder } from "./state-folder.ts";
import { note } from "./terminal/screen.ts";

/** A daemon that ends again and again is not started for ever. */
const mostStarts = 3;

/** Called each time the connection is lost; what it returns with leads to another try. */
export type Revive = () => Promise<void>;

export function reviveDaemon(host: Host, { state, json }: ConnectOptions): Revive {
  const folder = stateFolder(state);
  const say = (text: string): void => {
    if (json !== true) note(`tutti: ${text}`);
  };
  let starts = 0;
  let isTold = false;
  const sayOnce = (text: string): void => {
    if (!isTold) say(text);
    isTold = true;
  };
  return async () => {
    if (host.remote !== undefined) return sayOnce(`the connection to ${host.remote.url} is lost; trying again`);
    const last = await host.lastDaemon(folder);
    if (last === "stopped") {
      sayOnce(`the daemon was stopped; waiting for the next one (\`${commandLine(state, "up --detach")}\`)`);
    } else if (last === "crashed") {
      if (starts === mostStarts) {
        const message = `the daemon ended ${starts + 1} times without being stopped; ${folder}/daemon.log says why`;
        throw new TuttiError("io", message);
      }
      starts += 1;
      say("the daemon ended without being stopped; it is started again, and nothing that was acknowledged is lost");
      const { daemon } = await host.startDaemon({ state: folder, from: process.cwd() });
      say(`the daemon at ${daemon.url} goes on with it`);
    }
  };
}
