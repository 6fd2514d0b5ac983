// The host of a command that works with a daemon elsewhere: only what goes over its API is possible.
import { service } from "../../client/call.ts";
import { httpClient } from "../../client/http-client.ts";
import type { Host } from "../../host/host.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { Target } from "./find-target.ts";
import { remoteCatalog } from "./remote-catalog.ts";

/** How long the daemon may take to end after its grace time, and how often we look. */
const closingMs = 20_000;
const lookEveryMs = 200;
const defaultGraceMs = 10_000;

export function remoteHost(local: Host, { url, key }: Target): Host {
  const connect = async () => httpClient({ url, key });
  const onlyHere = (): never => {
    throw new TuttiError("usage", `this works on this machine only, not with the daemon at ${url}`);
  };
  const status = async () => {
    const tutti = await connect();
    try {
      return await tutti.status();
    } finally {
      await tutti.close();
    }
  };
  return {
    remote: { url, catalog: remoteCatalog({ url, key }) },
    connect,
    daemonFetch: async () => (path, init) => {
      const headers = new Headers(init.headers);
      headers.set("authorization", `Bearer ${key}`);
      return fetch(`${url}${path}`, { ...init, headers, redirect: "error" });
    },
    findDaemon: async () => {
      const { pid, version, started_at } = await status();
      return { url, pid, version, started_at, command: false };
    },
    findOwner: async () => {
      const { pid, started_at } = await status();
      return { pid, since: new Date(started_at).toISOString() };
    },
    async stopDaemon(_, { graceMs = defaultGraceMs, force }) {
      if (force === true)
        throw new TuttiError("usage", `--force kills a process of this machine, not the daemon at ${url}`);
      const { instance } = await status();
      await service({ url, bearer: () => key }).call("shutdown", { body: { grace_ms: graceMs } });
      for (const end = Date.now() + graceMs + closingMs; Date.now() < end;) {
        await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
        // Whatever started it may have started the next one already.
        const now = await status().catch(() => undefined);
        if (now === undefined || now.instance !== instance) return true;
      }
      throw new TuttiError("busy", `the daemon at ${url} has not ended yet; wait for it`);
    },
    lastDaemon: onlyHere,
    setup: (options) => local.setup(options),
    openBrowser: (folder, address) => local.openBrowser(folder, address),
    openReader: onlyHere,
    openLocal: onlyHere,
    openIdle: onlyHere,
    cancel: onlyHere,
    startDaemon: onlyHere,
    runDaemon: onlyHere,
    prune: onlyHere,
    sharesRecords: onlyHere,
    importRecords: onlyHere,
    exportRecords: onlyHere,
    checkSharedDatabase: onlyHere,
    storedKeys: onlyHere,
    addModelServer: onlyHere,
    clusterKey: onlyHere,
    openProject: onlyHere,
    standingApprovals: onlyHere,
    trustedConfigs: onlyHere,
    trustedServers: onlyHere,
    trustedSettings: onlyHere,
  };
}
