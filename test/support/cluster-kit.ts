// What tests of a cluster share: nodes in this process over one database, and ways to lose one of them.

import { ClusterNode } from "../../src/cluster/cluster-node.ts";
import { systemClock } from "../../src/engine/clock.ts";
import { Engine } from "../../src/engine/engine.ts";
import type { Durable } from "../../src/ports.ts";
import type { TuttiError } from "../../src/protocol/error.ts";
import type { DatabaseAddress } from "../../src/store/postgres/database-connection.ts";
import type { Loops } from "./engine-kit.ts";
import { type Cleanup, tempFolder } from "./temp-folder.ts";

export interface TestNode {
  readonly node: ClusterNode;
  /** Why it was fenced, each time. */
  readonly fenced: TuttiError[];
  readonly problems: TuttiError[];
}

export interface NodeSettings {
  readonly name: string;
  readonly leaseMs?: number;
  readonly labels?: readonly string[];
  /** The names of projects by their folder. */
  readonly projects?: ReadonlyMap<string, string>;
  /** Kinds of runners that it has beside `loop`; they do the same. `deploy` is one that some project may have. */
  readonly kinds?: readonly string[];
}

export async function openNode(
  t: Cleanup,
  address: DatabaseAddress,
  loops: Loops,
  { name, leaseMs = 5_000, labels = [], projects, kinds = [] }: NodeSettings,
): Promise<TestNode> {
  const [fenced, problems]: [TuttiError[], TuttiError[]] = [[], []];
  const loop = (durable: Durable): Promise<unknown> => {
    const found = loops[durable.agent];
    if (found === undefined) throw new Error(`no loop for ${durable.agent}`);
    return found(durable);
  };
  const treeRunners = {
    kinds,
    mayHave: (kind: string) => kind === "deploy",
    resolve: async () => Object.fromEntries(kinds.map((kind) => [kind, loop])),
  };
  const node = await ClusterNode.open({
    address,
    identity: { name, url: "", labels, version: "test", leaseMs },
    cacheFolder: tempFolder(t, "tutti-cache-"),
    projects,
    engine: ({ store }) =>
      new Engine({
        store,
        clock: systemClock,
        runners: { loop },
        treeRunners,
        slots: 400,
        untilOver: (task) => node.tasks.result(task),
      }),
    onFenced: (error) => fenced.push(error),
    onProblem: (error) => problems.push(error),
  });
  t.after(() => node.close().catch(() => undefined));
  return { node, fenced, problems };
}
