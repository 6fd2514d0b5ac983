// `tutti open` without a task: shows the dashboard in the browser, signed in by a code that works once.
import type { Host } from "../host/host.ts";
import { TuttiError } from "../protocol/error.ts";
import { type ConnectOptions, withDaemon } from "./connect.ts";
import { stateFolder } from "./state-folder.ts";
import { note, writeJson, writeUnbroken } from "./terminal/screen.ts";
import { dim } from "./terminal/style.ts";

export interface ShowOptions extends ConnectOptions {
  readonly print?: boolean;
}

export async function showDashboard(host: Host, options: ShowOptions): Promise<void> {
  const { json, state } = options;
  await withDaemon(host, { state, json }, async (tutti) => {
    const here = tutti.url;
    if (here === undefined) throw new TuttiError("internal", "the daemon has no address");
    const shows = options.print !== true && json !== true;
    // What is printed may be opened on another machine, so it is the address at which others reach the daemon.
    const base = shows ? here : ((await tutti.status()).url ?? here);
    const { code, expires_at } = await tutti.makeSignInCode();
    // In the fragment, which a browser sends to nobody.
    const url = `${new URL("/", base).href}#code=${code}`;
    if (json === true) return writeJson({ url, expires_at });
    if (shows && (await host.openBrowser(stateFolder(state), url))) {
      return note(`the dashboard opens in your browser ${dim("(if not: `tutti open --print`)")}`);
    }
    await writeUnbroken(url);
    note(dim("open this within a minute; it works once, and signs in with the rights of your key"));
  });
}
