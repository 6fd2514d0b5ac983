// Asks for large lists and whole results, and reads nothing of them for a while.

import { setTimeout as sleep } from "node:timers/promises";

import { neverReads } from "../support/never-reads.ts";
import type { Chance } from "../support/seeded-random.ts";
import type { DaemonWorld } from "./fuzzed-daemon.ts";

export async function unreadLists(luck: Chance, { url, known, large: { root, child } }: DaemonWorld): Promise<void> {
  const paths = [
    "/v1/tasks?limit=200&roots=false",
    `/v1/tasks/${root}/tree?limit=1000`,
    "/v1/asks?limit=200",
    "/v1/waits?limit=200",
    "/v1/events?limit=1000",
    `/v1/tasks/${child}/messages`,
    `/v1/tasks/${child}/steps`,
    `/v1/tasks/${root}`,
    `/v1/tasks/${root}/result`,
    `/v1/tasks/${root}/export`,
  ];
  const accept = luck.oneIn(3) ? "text/event-stream" : "*/*";
  const sockets = paths.map((path) => neverReads(url, { path, key: known.admin, accept }));
  await sleep(luck.below(500));
  for (const socket of sockets) socket.destroy();
}
