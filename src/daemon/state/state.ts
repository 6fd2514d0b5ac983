// An opened state folder: everything that works on it, put together once and used by the in-process client and the server.

import type { Engine } from "../../engine/engine.ts";
import type { TaskControl } from "../../ports.ts";
import type { TuttiError } from "../../protocol/error.ts";
import type { LiveDelta } from "../../protocol/task/event.ts";
import type { ServiceRecords } from "../../store/service-records.ts";
import type { Store } from "../../store/store.ts";
import type { StoreView } from "../../store/view.ts";
import type { InsightIndex } from "../insight/insight-index.ts";
import type { EventFeed } from "./event-feed.ts";
import type { Keys } from "./api-keys.ts";
import type { PageTokens } from "./page-tokens.ts";
import type { OperatorHub } from "../operators/operator-hub.ts";
import type { WorkerService } from "../operators/worker-service.ts";
import type { OwnSettings, SharedByNodes } from "./kept-records.ts";
import type { LocalTutti } from "./local-client.ts";

export interface State {
  readonly folder: string;
  readonly store: Store;
  readonly records: ServiceRecords;
  /** Settings of this process alone. */
  readonly own: OwnSettings;
  /** Undefined unless several nodes share the records. */
  readonly shared: SharedByNodes | undefined;
  readonly view: StoreView;
  /** Of the trees that are here. */
  readonly engine: Engine;
  /** Of all trees. */
  readonly tasks: TaskControl;
  readonly feed: EventFeed;
  readonly insight: InsightIndex;
  readonly operators: OperatorHub;
  readonly workers: WorkerService;
  readonly keys: Keys;
  readonly pages: PageTokens;
  readonly client: LocalTutti;
  /** Takes secrets out of a text. */
  readonly redact: (text: string) => string;
  /** Text on its way, redacted. */
  onLive(listener: (delta: LiveDelta) => void): () => void;
  /** The same, only of the trees that are here. */
  onOwnLive(listener: (delta: LiveDelta) => void): () => void;
  /** Takes up what was left unfinished; for a state that was opened to do this later. */
  resume(): Promise<void>;
  /** It was opened to resume later, and that is not done yet. */
  isStarting(): boolean;
  /** Why nothing can be answered at the moment; undefined while it can. */
  unavailable(): TuttiError | undefined;
  /** Says where workers reach the service, once it listens. */
  listening(url: string): void;
  /** Lets steps under way finish within `graceMs`, then leaves the rest to the next start. */
  close(options?: { readonly graceMs?: number }): Promise<void>;
}
