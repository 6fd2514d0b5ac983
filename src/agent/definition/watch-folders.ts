// Keeps the loaded agents up to date: watches their folders, including folders that do not exist yet.

import { type FSWatcher, statSync, watch } from "node:fs";
import { dirname } from "node:path";

import { type DefinitionFolder, loadDefinitions, type LoadedDefinitions } from "./agent-folders.ts";

export interface WatchedDefinitions {
  current(): LoadedDefinitions;
  close(): void;
}

/** Editors write a file in several steps; changes this close together count as one. */
const quietMs = 100;
/** How often the folders are read again where the system cannot watch them. */
const pollMs = 2_000;

/** `onChange` is called when the loaded definitions differ from before. */
export async function watchDefinitions(
  folders: readonly DefinitionFolder[],
  onChange: (loaded: LoadedDefinitions) => void,
): Promise<WatchedDefinitions> {
  let closed = false;
  let timer: NodeJS.Timeout | undefined;
  let loading: Promise<void> = Promise.resolve();
  const scheduleReload = (ms = quietMs): void => {
    if (closed) return;
    timer ??= setTimeout(() => {
      timer = undefined;
      loading = loading.then(reload);
    }, ms);
  };
  const watchers = folders.map(({ path }) => folderWatcher(path, scheduleReload));
  // Watching begins before reading, so that no change is missed in between.
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

/**
 * Watches the folder, or the nearest existing folder above it. `arm` must be called again after a change, since the folder
 * may have been created, deleted or replaced.
 */
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
      const found = nearestFolder(folder);
      if (found.identity === watched) return;
      close();
      try {
        watcher = watch(found.path, { recursive: found.path === folder });
        watched = found.identity;
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

function nearestFolder(folder: string): { readonly path: string; readonly identity: string } {
  for (let path = folder; ; path = dirname(path)) {
    const found = statSync(path, { throwIfNoEntry: false, bigint: true });
    if (found?.isDirectory() === true) return { path, identity: `${path}\0${found.dev}\0${found.ino}` };
    if (path === dirname(path)) return { path, identity: path };
  }
}
