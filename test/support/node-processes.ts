// Nodes of a cluster as users start them: real processes of `tutti up --database` over a PostgreSQL of the test's own.

import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { Tutti } from "../../src/client/client.ts";
import { newClusterKey } from "../../src/daemon/cluster/cluster-key.ts";
import { keepClusterKey } from "../../src/daemon/cluster/find-cluster-key.ts";
import { clientOf } from "../../src/daemon/lifecycle/find-daemon.ts";
import { httpClient } from "../../src/client/http-client.ts";
import type { DatabaseAddress } from "../../src/store/postgres/database-connection.ts";
import { newDatabase } from "./stores.ts";
import type { Cleanup } from "./temp-folder.ts";
import { type UpProcess, upScene } from "./up-process.ts";
import { until } from "./wait-until.ts";

export interface NodeProcess extends UpProcess {
  readonly name: string;
  readonly folder: string;
  readonly state: string;
  readonly tutti: Tutti;
  readonly url: string;
  readonly key: string;
  /** As `kill -9`; resolves when it is gone. */
  kill(): Promise<void>;
  freeze(): void;
  thaw(): void;
  /** A client with another key. */
  as(key: string): Tutti;
}

export interface NodeProcesses {
  /** Starts a node; one of a name that was started before goes on in the same folder. */
  start(name: string, ...args: readonly string[]): Promise<NodeProcess>;
  /** The same on a machine where these folders are empty. */
  startWithout(hides: readonly string[], name: string, ...args: readonly string[]): Promise<NodeProcess>;
}

export function nodeProcesses(
  t: Cleanup,
  {
    leaseSeconds = 2,
    userConfig,
    database: { url, schema } = newDatabase(),
  }: { readonly leaseSeconds?: number; readonly userConfig?: object; readonly database?: DatabaseAddress } = {},
): NodeProcesses {
  const clusterKey = newClusterKey();
  const scenes = new Map<string, ReturnType<typeof upScene>>();
  return {
    start: (name, ...args) => startOn([], name, args),
    startWithout: (hides, name, ...args) => startOn(hides, name, args),
  };
  async function startOn(hides: readonly string[], name: string, args: readonly string[]): Promise<NodeProcess> {
    const scene = scenes.get(name) ?? upScene(t);
    scenes.set(name, scene);
    keepClusterKey(scene.state, clusterKey);
    if (userConfig !== undefined) {
      mkdirSync(join(scene.folder, ".tutti"), { recursive: true });
      writeFileSync(join(scene.folder, ".tutti", "tutti.config.json"), JSON.stringify(userConfig));
    }
    const database = ["--database", url, "--schema", schema, "--node", name, "--lease", String(leaseSeconds)];
    const up = await scene.up({ args: [...database, ...args], hides });
    const { child, found } = up;
    const tutti = clientOf(found);
    t.after(() => tutti.close());
    await until(async () => !(await tutti.status()).starting, "it takes work");
    const signal = (name: NodeJS.Signals): void => void child.kill(name);
    return {
      ...up,
      name,
      folder: scene.folder,
      state: scene.state,
      tutti,
      url: found.daemon.url,
      key: found.key,
      async kill() {
        signal("SIGKILL");
        await gone(child);
      },
      freeze: () => signal("SIGSTOP"),
      thaw: () => signal("SIGCONT"),
      as(key) {
        const client = httpClient({ url: found.daemon.url, key });
        t.after(() => client.close());
        return client;
      },
    };
  }
}

async function gone(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
}
