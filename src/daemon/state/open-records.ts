// Opens the records of a service where they are kept: in its folder, or as a node in a database that several share.

import type { TuttiError } from "../../protocol/error.ts";
import type { TaskId } from "../../protocol/ids.ts";
import type { PreparedNode } from "../cluster/prepare-node.ts";
import type { ServiceLog } from "../operators/service-log.ts";
import { openEmbeddedRecords } from "./embedded-records.ts";
import type { KeptRecords } from "./kept-records.ts";

interface Opening {
  readonly log: ServiceLog;
  readonly leave: (task: TaskId, error: TuttiError) => void;
}

export async function openRecords(
  folder: string,
  node: PreparedNode | undefined,
  { log, leave }: Opening,
): Promise<KeptRecords> {
  if (node === undefined) return openEmbeddedRecords(folder);
  // Loaded only when it is needed, with the driver of the database.
  const { openSharedRecords } = await import("./shared-records.ts");
  const { key, insecure } = node;
  return openSharedRecords(folder, {
    node,
    key,
    insecure,
    onLeft: leave,
    onProblem: (error) => log.warn({ err: error }, error.message),
    onEnded: ({ steps, found, left }) => {
      const message = "the lease of this node ran out, so the processes that it had started were ended";
      log.warn({ steps, found, left }, message);
    },
  });
}
