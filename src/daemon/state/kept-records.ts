// Where a service keeps its records: in its own state folder, or in a database that several nodes share.

import type { Engine } from "../../engine/engine.ts";
import type { TaskControl } from "../../ports.ts";
import type { NodeList } from "../../protocol/api/node-shapes.ts";
import type { TuttiError } from "../../protocol/error.ts";
import type { ServiceRecords } from "../../store/service-records.ts";
import type { Store } from "../../store/store.ts";
import type { StoreView } from "../../store/view.ts";

/** Settings of this process alone, also where the other records are shared. */
export type OwnSettings = Pick<ServiceRecords, "setting" | "putSetting">;

/** What only records that several nodes share have. */
export interface SharedByNodes {
  /** The name of this node. */
  readonly node: string;
  /** Where the other nodes reach this one. */
  announce(url: string): Promise<void>;
  /** Called when any node has changed service records, after they are here. */
  onShared(listener: () => void): () => void;
  /** Brings in what other nodes have recorded so far, such as a key that was just made. */
  catchUp(): Promise<void>;
  /** How the nodes stand. */
  nodes(): Promise<NodeList>;
  /** Resolves when every living node acts on what this node has recorded in service records. */
  seenByAll(): Promise<void>;
}

export interface KeptRecords {
  /** The trees that are here, and all service records. */
  readonly store: Store & { readonly records: ServiceRecords };
  /** Everything, wherever it is. */
  readonly view: StoreView;
  readonly own: OwnSettings;
  readonly shared: SharedByNodes | undefined;
  /** Tells when there are new events to be read, and when nothing can be written any more. */
  readonly news: Pick<Store, "onCommit" | "failure">;
  /** Makes the engine of the trees that are here one for all trees. To be called once. */
  control(engine: Engine): TaskControl;
  /** Goes on with what was left unfinished; returns how many tasks. */
  recover(options: { readonly launch: boolean }): Promise<number>;
  /** Why nothing can be answered at the moment; undefined while it can. */
  unavailable(): TuttiError | undefined;
  close(): Promise<void>;
}
