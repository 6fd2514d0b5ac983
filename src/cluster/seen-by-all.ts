// Waits until a change of shared rows holds on every living node: each says which version it has taken in and acted on.

import { TuttiError } from "../protocol/error.ts";
import type { NodeStore } from "../store/postgres/postgres-store.ts";

const lookEveryMs = 10;
const looksBetween = 25;
/** A node that is cut off is buried when its lease has ended; then it can do nothing more. */
const patienceMs = 120_000;

/** Who has made a change: a node, or a command that is none. */
export type Changer = Pick<NodeStore, "rows" | "sharedVersion">;

/** Asks every node to say up to which version it has acted on the shared rows. */
export async function askToAcknowledge({ rows, sharedVersion }: Changer): Promise<void> {
  await rows("SELECT pg_notify('tutti_acks_' || current_schema(), $1)", [String(sharedVersion)]);
}

/**
 * Resolves when every living node has taken in what is here: a pause, or something that was taken back. `over`: why this node
 * cannot find out any more; undefined while it can.
 */
export async function seenByAll(changer: Changer, over: () => TuttiError | undefined = () => undefined): Promise<void> {
  const version = changer.sharedVersion;
  let missing: string[] = [];
  const end = Date.now() + patienceMs;
  for (let looks = 0; Date.now() < end; looks += 1) {
    if (over() !== undefined) throw stoppedMeanwhile();
    // Again now and then: a node may have joined meanwhile, or have lost its connection.
    if (looks % looksBetween === 0) await askToAcknowledge(changer);
    const rows = await changer.rows("SELECT name FROM nodes WHERE alive AND seen_version < $1", [version]);
    if (rows.length === 0) return;
    missing = rows.map((row) => String(row["name"]));
    await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
  }
  const message = `the change is recorded, but ${missing.join(", ")} did not say in time that it holds there; \`tutti nodes\` shows what is wrong with it`;
  throw new TuttiError("busy", message, { retry: "unknown" });
}

function stoppedMeanwhile(): TuttiError {
  const message =
    "the change is recorded, but this node was stopped or declared dead before every other node had said that it holds there; make it again";
  return new TuttiError("stopped", message, { retry: "unknown" });
}
