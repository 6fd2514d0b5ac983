// Where a node has the key of its cluster: in a file that the person named, in the environment, or in its state folder.

import { existsSync, renameSync } from "node:fs";
import { join } from "node:path";

import { createPrivateFile, readPrivateFile, replacePrivateFile } from "../../files/private-file.ts";
import { refuseSharedFolder } from "../../files/private-folder.ts";
import { TuttiError } from "../../protocol/error.ts";
import { makeFolder } from "../../store/sqlite/database.ts";
import { clusterEnvironment, clusterKeyVariable } from "./cluster-environment.ts";
import { type ClusterKey, clusterKeyFrom } from "./cluster-key.ts";

export interface FoundKey {
  readonly key: ClusterKey;
  /** The key itself, to be redacted everywhere. */
  readonly text: string;
}

export interface KeyPlace {
  readonly folder: string;
  /** A file that the person named. */
  readonly file?: string | undefined;
}

export function clusterKeyFile(folder: string): string {
  return join(folder, "cluster.key");
}

/** The first that is given counts: the named file, the environment, the state folder. */
export function findClusterKey({ folder, file }: KeyPlace): FoundKey | undefined {
  if (file !== undefined) {
    const text = readPrivateFile(file);
    if (text === undefined) throw new TuttiError("not_found", `there is no key file ${file}`);
    return foundKey(text, file);
  }
  const { clusterKey } = clusterEnvironment();
  if (clusterKey !== undefined) return foundKey(clusterKey, clusterKeyVariable);
  const own = clusterKeyFile(folder);
  const text = readPrivateFile(own);
  return text === undefined ? undefined : foundKey(text, own);
}

/** For commands on the machine of a node. Throws `not_found` where there is none. */
export function ownClusterKey(folder: string): ClusterKey {
  const known = findClusterKey({ folder });
  if (known !== undefined) return known.key;
  const message = `the key of the cluster is neither in ${clusterKeyFile(folder)} nor in ${clusterKeyVariable}; set the variable as the node has it, or run \`tutti cluster-key set\``;
  throw new TuttiError("not_found", message);
}

/** Throws `conflict` when the folder has another key already. */
export function keepClusterKey(folder: string, text: string): void {
  const file = clusterKeyFile(folder);
  refuseSharedFolder(folder);
  makeFolder(folder);
  const wanted = foundKey(text, "the input");
  if (createPrivateFile(file, `${wanted.text}\n`)) return;
  if (foundKey(readPrivateFile(file) ?? "", file).key.check === wanted.key.check) return;
  throw new TuttiError(
    "conflict",
    `${file} holds another key; move it away first, if this folder is to change clusters`,
  );
}

/** Where the key is kept that the cluster is to have next. */
export function nextKeyFile(folder: string): string {
  return `${clusterKeyFile(folder)}.next`;
}

/** Undefined when there is none. */
export function readNextKey(folder: string): FoundKey | undefined {
  const file = nextKeyFile(folder);
  const text = readPrivateFile(file);
  return text === undefined ? undefined : foundKey(text, file);
}

/** Replaces the one that was to be next before. */
export function keepNextKey(folder: string, text: string): FoundKey {
  refuseSharedFolder(folder);
  makeFolder(folder);
  const next = foundKey(text, "the input");
  replacePrivateFile(nextKeyFile(folder), `${next.text}\n`);
  return next;
}

/** The cluster now has the key with this check. If it is in the folder, it is the folder's key from now on. */
export function adoptKey(folder: string, check: string): FoundKey | undefined {
  const next = readNextKey(folder);
  if (next?.key.check === check) {
    try {
      renameSync(nextKeyFile(folder), clusterKeyFile(folder));
    } catch (thrown) {
      // The node or a command was quicker, and has done the same.
      if (existsSync(nextKeyFile(folder))) throw thrown;
    }
    return next;
  }
  const own = readPrivateFile(clusterKeyFile(folder));
  const found = own === undefined ? undefined : foundKey(own, clusterKeyFile(folder));
  return found?.key.check === check ? found : undefined;
}

/** Instead of one that the same cluster had before. */
export function replaceClusterKey(folder: string, text: string): void {
  replacePrivateFile(clusterKeyFile(folder), `${foundKey(text, "the input").text}\n`);
}

/** `where` says where the text comes from. */
export function foundKey(text: string, where: string): FoundKey {
  return { key: clusterKeyFrom(text, where), text: text.trim() };
}
