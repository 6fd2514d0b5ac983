// The records of a service that works alone, in its state folder.

import { threadFolders } from "../../cluster/thread-projects.ts";
import type { Engine } from "../../engine/engine.ts";
import { operatorReads } from "../../store/sqlite/operator-reads.ts";
import { openStore } from "../../store/sqlite/sqlite-store.ts";
import { openView } from "../../store/sqlite/sqlite-view.ts";
import type { KeptRecords } from "./kept-records.ts";

export function openEmbeddedRecords(folder: string): KeptRecords {
  const store = openStore(folder);
  const view = openView(folder);
  let engine: Engine | undefined;
  return {
    store,
    view,
    reads: operatorReads(store),
    own: store.records,
    threadProjects: threadFolders,
    shared: undefined,
    news: store,
    control: (made) => (engine = made),
    recover: async (options) => engine?.recover(options) ?? 0,
    unavailable: () => undefined,
    async close() {
      view.close();
      store.close();
    },
  };
}
