// Where a service keeps its records: in its own state folder, or in a database that several nodes share.

import type { OperatorPlaces } from "../operators/operator-places.ts";
import type { NodeRunners } from "../../cluster/node-labels.ts";
import type { ThreadProjects } from "../../cluster/thread-projects.ts";
import type { TreeOwner } from "../../cluster/tree-owner.ts";
import type { Engine } from "../../engine/engine.ts";
import type { TaskControl } from "../../ports.ts";
import type { NodeList } from "../../protocol/api/node-shapes.ts";
import type { ServiceStatus } from "../../protocol/api/service.ts";
import type { TuttiError } from "../../protocol/error.ts";
import type { SharedChange } from "../../store/postgres/shared-rows.ts";
import type { OperatorReads } from "../../store/reads-for-operators.ts";
import type { ProcessNote } from "../../runner/shared/process/end-processes.ts";
import type { ServiceRecords } from "../../store/service-records.ts";
import type { Store } from "../../store/store.ts";
import type { StoreView } from "../../store/view.ts";
import type { ChangingKey } from "../cluster/changing-key.ts";
import type { NodeFetch, OtherNode } from "../cluster/node-fetch.ts";
import type { NodeRequest } from "../cluster/node-token.ts";
import type { Documents } from "../documents/documents.ts";

/** Settings of this process alone, also where the other records are shared. */
export type OwnSettings = Pick<ServiceRecords, "setting" | "putSetting">;

/** What only records that several nodes share have. */
export interface SharedByNodes {
  /** The name of this node. */
  readonly node: string;
  /** Where the other nodes reach this one, and the certificate that it shows there. */
  announce(at: Pick<OtherNode, "url" | "certificate">): Promise<void>;
  readonly key: ChangingKey;
  /** Called when people have given the cluster another key that this node does not have; at once if that was before. */
  onKeyLost(listener: (error: TuttiError) => void): () => void;
  /** The other nodes that live and can be reached; `first` those that say that they have the folder. */
  others(options?: { readonly first?: string }): Promise<OtherNode[]>;
  /** Names of nodes that had the folder and are not up. */
  nodesGoneWith(folder: string): Promise<string[]>;
  /** Sends requests to another node. Throws `refused` for one that has no TLS. */
  fetchFrom(target: OtherNode): NodeFetch;
  /** Shows another node, which chose the query, that this is the node that announced itself. */
  prove(query: string): string;
  /** The incarnation of the node that sent a request. Throws `unauthorized` for everybody else. */
  checkToken(token: string | undefined, request: NodeRequest): number;
  /** What people agreed to, and the secrets of the cluster. */
  readonly documents: Documents;
  /** Called with service records that any node has changed, after they are here. */
  onShared(listener: (changes: readonly SharedChange[]) => void): () => void;
  /** Brings in what other nodes have recorded so far, such as a key that was just made. */
  catchUp(): Promise<void>;
  /** The node that runs the tree of the task; waits while the tree changes hands. */
  readonly ownerOf: (task: number, signal?: AbortSignal) => Promise<TreeOwner>;
  readonly places: OperatorPlaces;
  /** True for one caller only, on whichever node. */
  readonly claimOnce: (what: string) => Promise<boolean>;
  /** How the nodes stand. */
  nodes(): Promise<NodeList>;
  /** True for one living node; another one gets the turn when that one is gone. */
  readonly takeTurn: (at: string) => Promise<boolean>;
  /** Resolves when every living node acts on what this node has recorded in service records. */
  seenByAll(): Promise<void>;
}

export interface KeptRecords {
  /** The trees that are here, and all service records. */
  readonly store: Store & { readonly records: ServiceRecords };
  /** Everything, wherever it is. */
  readonly view: StoreView;
  /** What operators need of trees, wherever they are. */
  readonly reads: OperatorReads;
  readonly own: OwnSettings;
  /** How the projects of threads are recorded. */
  readonly threadProjects: ThreadProjects;
  readonly shared: SharedByNodes | undefined;
  /** Tells when there are new events to be read, and when nothing can be written any more. */
  readonly news: Pick<Store, "onCommit" | "failure">;
  /** Makes the engine of the trees that are here one for all trees. To be called once. `runners`: see `ProjectRuntimes`. */
  control(engine: Engine, runners: Omit<NodeRunners, "isBuiltIn">): TaskControl;
  /** Goes on with what was left unfinished; returns how many tasks. */
  recover(options: { readonly launch: boolean }): Promise<number>;
  /** Tasks that nobody runs because no node has what they need; absent where there are no other nodes. */
  readonly parked?: () => Promise<ServiceStatus["parked"]>;
  /** Why nothing can be answered at the moment; undefined while it can. */
  unavailable(): TuttiError | undefined;
  /** Resolves when the process is sure to end before others can go on with its task; absent where there are no others. */
  readonly guard?: (process: ProcessNote) => Promise<void>;
  close(): Promise<void>;
}
