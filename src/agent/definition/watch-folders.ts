// Keeps the loaded agents up to date: their folders are watched, also those that are not there yet.

import { type FSWatcher, statSync, watch } from "node:fs";
import { dirname } from "node:path";

import { type DefinitionFolder, loadDefinitions, type LoadedDefinitions } from "./agent-folders.ts";

export interface WatchedDefinitions {
  current(): LoadedDefinitions;
  close(): void;
}

/** Editors write a file in several steps; they count as one change. */
const quietMs = 100;
/** How often is looked where the system cannot watch. */
const pollMs = 2_000;

/** `onChange` is called when what is loaded is different from before. */
export async function watchDefinitions(
  folders: readonly DefinitionFolder[],
  onChange: (loaded: LoadedDefinitions) => void,
): Promise<WatchedDefinitions> {
  let closed = false;
  let timer: NodeJS.Timeout | undefined;
  let loading: Promise<void> = Promise.resolve();
  const soon = (ms = quietMs): void => {
    if (closed) return;
    timer ??= setTimeout(() => {
      timer = undefined;
      loading = loading.then(reload);
    }, ms);
  };
  const watchers = folders.map(({ path }) => folderWatcher(path, soon));
  // Watching begins before reading, so that no change falls between.
  for (const watcher of watchers) watcher.arm();
  let loaded = await loadDefinitions(folders);
  const reload = async (): Promise<void> => {
    for (const watcher of watchers) if (!closed) watcher.arm();
    const next = await loadDefinitions(folders, loaded);
    if (closed || JSON.stringify(next) === JSON.stringify(loaded)) return;
    loaded = next;
    onChange(loaded);
  };
  return {
    current: () => loaded,
    close() {
      closed = true;
      clearTimeout(timer);
      for (const watcher of watchers) watcher.close();
    },
  };
}

/** Watches the folder, or the nearest one above it that exists; `arm` again follows it when it came, went or was replaced. */
function folderWatcher(folder: string, changed: (ms?: number) => void): { arm(): void; close(): void } {
  let watcher: FSWatcher | undefined;
  let watched = "";
  const close = (): void => {
    watcher?.close();
    watcher = undefined;
    watched = "";
  };
  return {
    close,
    arm() {
      const place = nearest(folder);
      if (place.identity === watched) return;
      close();
      try {
        watcher = watch(place.path, { recursive: place.path === folder });
        watched = place.identity;
        watcher.on("change", () => changed());
        watcher.on("error", () => {
          close();
          changed(pollMs);
        });
      } catch {
        changed(pollMs);
      }
    },
  };
}

function nearest(folder: string): { readonly path: string; readonly identity: string } {
  for (let path = folder; ; path = dirname(path)) {
    const found = statSync(path, { throwIfNoEntry: false, bigint: true });
    if (found?.isDirectory() === true) return { path, identity: `${path}\0${found.dev}\0${found.ino}` };
    if (path === dirname(path)) return { path, identity: path };
  }
}
