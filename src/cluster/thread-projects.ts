// The project of a thread, as it is recorded: by the name that people gave it, so that the thread goes on at every node that has it.

import { join, relative } from "node:path";

import { z } from "zod";

import type { NodeLabels } from "./node-labels.ts";

/** What a thread belongs to is recorded as a key, and shown as the folder of this machine. Both are empty for no project. */
export interface ThreadProjects {
  keyOf(folder: string): string;
  /** The key itself when the project is not on this machine. */
  folderOf(key: string): string;
  /** Of the project that a root task was given, on whichever machine. */
  keyOfConfig(config: unknown): string;
}

const Config = z.looseObject({
  project: z.string().default(""),
  named: z.object({ name: z.string(), folder: z.string() }).optional(),
});

/** Where there is one machine, the folder is the key. */
export const threadFolders: ThreadProjects = {
  keyOf: (folder) => folder,
  folderOf: (key) => key,
  keyOfConfig: (config) => Config.safeParse(config).data?.project ?? "",
};

/** The key of a named project is its name, with the path in it. No name has a slash, and every folder begins with one. */
export function threadProjects(names: Pick<NodeLabels, "namedAt" | "folderOf">): ThreadProjects {
  const keyOf = (folder: string): string => {
    const named = folder === "" ? undefined : names.namedAt(folder);
    return named === undefined ? folder : join(named.name, relative(named.folder, folder));
  };
  return {
    keyOf,
    folderOf(key) {
      if (key === "" || key.startsWith("/")) return key;
      const [name = "", ...path] = key.split("/");
      const folder = names.folderOf(name);
      return folder === undefined ? key : join(folder, ...path);
    },
    keyOfConfig(config) {
      const { project = "", named } = Config.safeParse(config).data ?? {};
      return named === undefined ? keyOf(project) : join(named.name, relative(named.folder, project));
    },
  };
}
