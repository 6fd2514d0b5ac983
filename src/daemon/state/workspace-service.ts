// The workspaces of a state folder: opened once, brought in order after a crash, and kept within the limits of the config.

import { realpathSync } from "node:fs";
import { isAbsolute, relative } from "node:path";

import { TuttiError } from "../../protocol/error.ts";
import { confineGit } from "../../runner/shared/sandbox/confine-git.ts";
import { probeSandbox } from "../../runner/shared/sandbox/sandbox-status.ts";
import type { StoreView } from "../../store/view.ts";
import {
  type Confine,
  type Machine,
  openWorkspaces,
  recoverWorkspaces,
  trimSetupCache,
  type WorkspaceStore,
} from "../../workspace/index.ts";
import type { ServiceLog } from "../operators/service-log.ts";
import { setupCacheOf, type WorkspacesConfig } from "../project/workspaces-config.ts";
import { type WorkspaceControl, workspaceControl } from "./workspace-control.ts";

export interface WorkspaceServiceDeps {
  /** The state folder. */
  readonly folder: string;
  readonly view: StoreView;
  readonly redact: (text: string) => string;
  /** The settings of the user's own config. */
  readonly config: () => Promise<WorkspacesConfig>;
  /** The settings that hold in a folder. */
  readonly settings?: (project: string) => Promise<Pick<WorkspacesConfig, "branch" | "signing">>;
  /** Where the config says that workspaces are made; beside the state folder when absent. */
  readonly root: string | undefined;
  /** The machine that the workspaces are on; absent where there is only one. */
  readonly machine?: Machine | undefined;
  readonly log: ServiceLog;
  readonly now: () => number;
}

export interface WorkspaceService {
  readonly store: WorkspaceStore;
  readonly control: WorkspaceControl;
  /** Finishes or undoes what a crash cut in two. Call it before any task goes on. */
  recover(): Promise<void>;
  /** Removes what exceeds the limits of the config, now and every hour. */
  keepWithinLimits(): void;
  /** Resolves when nothing is being merged or removed any more. */
  close(): Promise<void>;
}

const tidyEveryMs = 3_600_000;

export function workspaceService(deps: WorkspaceServiceDeps): WorkspaceService {
  const { folder, log } = deps;
  if (deps.root !== undefined && isInside(deps.root, folder)) {
    throw new TuttiError(
      "invalid_input",
      `your config sets workspaces.root to ${deps.root}, which is in the state folder; sessions may not work there, so name another folder`,
    );
  }
  const store = openWorkspaces(folder, { root: deps.root, machine: deps.machine });
  const stopping = new AbortController();
  let confine: Promise<Confine | undefined> | undefined;
  const control = workspaceControl({
    ...deps,
    store,
    limits: deps.config,
    stopping: stopping.signal,
    confine: () => (confine ??= probeSandbox().then((status) => confineGit(status, [realpathSync(folder)]))),
  });
  let timer: NodeJS.Timeout | undefined;
  const tidy = async (): Promise<void> => {
    await trimSetupCache(setupCacheOf(folder, await deps.config()), deps.now());
    const { removed, failed, over_bytes } = await control.pruneWorkspaces();
    for (const { id, task, why } of removed) {
      log.info({ workspace: id, task, why }, "a workspace was removed to keep within the limits of the config");
    }
    for (const { id, problem } of failed) log.warn({ workspace: id, problem }, "a workspace could not be removed");
    if (over_bytes > 0) {
      log.warn({ over_bytes }, "the workspaces take more room than `workspaces.max_size` allows, and all are needed");
    }
  };
  const tidyLogged = (): void => {
    void tidy().catch((thrown: unknown) => {
      if (!stopping.signal.aborted) log.warn({ err: thrown }, "the workspaces could not be tidied up");
    });
  };
  return {
    store,
    control,
    async recover() {
      for (const { id, did, problem } of await recoverWorkspaces(store)) {
        if (did === "failed") log.warn({ workspace: id, problem }, "a workspace could not be brought in order");
        else log.info({ workspace: id, did }, "a workspace was brought in order after a crash");
      }
    },
    keepWithinLimits() {
      tidyLogged();
      timer ??= setInterval(tidyLogged, tidyEveryMs).unref();
    },
    async close() {
      clearInterval(timer);
      stopping.abort();
      await control.idle();
    },
  };
}

function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return !way.startsWith("..") && !isAbsolute(way);
}
