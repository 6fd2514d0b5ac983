// Which documents belong to a state folder: its files, or those of the cluster that the folder is a node of.

import { resolve } from "node:path";

import { TuttiError } from "../../protocol/error.ts";
import type { Documents } from "./documents.ts";
import { fileDocuments } from "./file-documents.ts";
import { isNodeFolder, readNodeSettings } from "../state/node-settings.ts";
import { projectNames } from "./project-names.ts";

/** By state folder: what this process has opened. */
const opened = new Map<string, Documents>();

/**
 * What is agreed to in a cluster counts on every node, so the files of the folder of a node never count. Throws `conflict`
 * rather than read or change a file that nobody else sees.
 */
export function documentsOf(state: string): Documents {
  const shared = opened.get(resolve(state));
  if (shared !== undefined) return shared;
  if (!isNodeFolder(state)) return fileDocuments(state);
  const message = `${state} is the folder of a node of a cluster, and what is agreed to there is in the database; start the node with \`tutti up\``;
  throw new TuttiError("conflict", message);
}

/** From now on these are the documents of the folder, in this process. Returns what ends that. */
export function useDocuments(state: string, documents: Documents): () => void {
  const folder = resolve(state);
  opened.set(folder, documents);
  return () => {
    if (opened.get(folder) === documents) opened.delete(folder);
  };
}

/** For a command, before it asks for anything that is agreed to. Does nothing for the folder of a single machine. */
export async function openCommandDocuments(state: string): Promise<void> {
  if (opened.has(resolve(state))) return;
  const node = readNodeSettings(state);
  if (node === undefined) return;
  // Loaded only for a node: the driver takes a while to load.
  const [{ commandDocuments, personHere }, { ownClusterKey }] = await Promise.all([
    import("./cluster-documents.ts"),
    import("../cluster/find-cluster-key.ts"),
  ]);
  const options = { by: personHere(), projects: projectNames(state), key: () => ownClusterKey(state) };
  useDocuments(state, await commandDocuments(node.address, options));
}
