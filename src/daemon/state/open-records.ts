// Opens the records of a service where they are kept: in its folder, or as a node in a database that several share.

import type { Secret } from "../../core/redaction/secret-matcher.ts";
import type { TuttiError } from "../../protocol/error.ts";
import type { TaskId } from "../../protocol/ids.ts";
import { ChangingKey } from "../cluster/changing-key.ts";
import type { PreparedNode } from "../cluster/prepare-node.ts";
import type { ServiceLog } from "../operators/service-log.ts";
import { openEmbeddedRecords } from "./embedded-records.ts";
import type { KeptRecords } from "./kept-records.ts";

interface Opening {
  readonly log: ServiceLog;
  readonly leave: (task: TaskId, error: TuttiError) => void;
  /** Told of secrets that came while the node works. */
  readonly onSecrets: (secrets: readonly Secret[]) => void;
}

export async function openRecords(
  folder: string,
  node: PreparedNode | undefined,
  { log, leave, onSecrets }: Opening,
): Promise<KeptRecords> {
  if (node === undefined) return openEmbeddedRecords(folder);
  // Loaded only when it is needed, with the driver of the database.
  const { openSharedRecords } = await import("./shared-records.ts");
  const { key, insecure } = node;
  onSecrets(key instanceof ChangingKey ? key.secrets : []);
  return openSharedRecords(folder, {
    node,
    key,
    insecure,
    onLeft: leave,
    onKeyChanged(by) {
      onSecrets(key instanceof ChangingKey ? key.secrets : []);
      log.info({ by }, "the key of the cluster was changed, and this node uses the new one");
    },
    onProblem: (error) => log.warn({ err: error }, error.message),
    onEnded: ({ steps, found, left }) => {
      const message = "the lease of this node ran out, so the processes that it had started were ended";
      log.warn({ steps, found, left }, message);
    },
  });
}
