// An opened state folder: everything that works on it, put together once and used by the in-process client and the server.

import type { Tutti } from "../client/client.ts";
import type { Engine } from "../engine/engine.ts";
import type { LiveDelta } from "../protocol/event.ts";
import type { DeskStore } from "../store/desk-store.ts";
import type { Store } from "../store/store.ts";
import type { StoreView } from "../store/view.ts";
import type { EventFeed } from "./event-feed.ts";
import type { Keys } from "./keys.ts";
import type { OperatorDesk } from "./operators/desk.ts";
import type { WorkerDesk } from "./operators/worker-desk.ts";

export interface State {
  readonly folder: string;
  readonly store: Store;
  readonly desk: DeskStore;
  readonly view: StoreView;
  readonly engine: Engine;
  readonly feed: EventFeed;
  readonly operators: OperatorDesk;
  readonly workers: WorkerDesk;
  readonly keys: Keys;
  readonly client: Tutti;
  /** Takes secrets out of a text. */
  readonly redact: (text: string) => string;
  /** Text on its way, redacted. */
  onLive(listener: (delta: LiveDelta) => void): () => void;
  /** Says where workers reach the service, once it listens. */
  listening(url: string): void;
  /** Lets steps under way finish within `graceMs`, then leaves the rest to the next start. */
  close(options?: { readonly graceMs?: number }): Promise<void>;
}
