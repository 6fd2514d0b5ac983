// The cap of the day of a state: its record is a document, which all nodes of a state share.

import { randomUUID } from "node:crypto";

import { DayCap } from "../../engine/day-cap.ts";
import type { Clock } from "../../ports.ts";
import { idInName } from "../../store/names.ts";
import type { StoreView } from "../../store/view.ts";
import { documentsOf } from "../documents/documents-of.ts";

const document = "day-limits.json";

export interface StateDayCapOptions {
  readonly folder: string;
  readonly clock: Clock;
  readonly view: Pick<StoreView, "salt" | "usedSince" | "openWait">;
  /** The name of this node; empty for the one process of a folder. */
  readonly node: string;
}

export function stateDayCap({ folder, clock, view, node }: StateDayCapOptions): DayCap {
  const documents = documentsOf(folder);
  return new DayCap({
    clock,
    process: { id: randomUUID(), node },
    record: {
      read: () => documents.read(document),
      change: (work) => documents.change(document, work),
      async usedSince(at) {
        const { tokens, money } = await view.usedSince(at);
        return { tokens, money_micro_usd: money };
      },
      async isOpen(ask) {
        const id = idInName(view.salt, ask);
        return id !== undefined && (await view.openWait(id)) !== undefined;
      },
    },
  });
}
