// Documents of a state folder: each is read whole at every question, and changed from what it was to what it becomes, or not at all.

import type { ClusterKey } from "../cluster/cluster-key.ts";

type DocumentName =
  | "trusted.json"
  | "trusted-settings.json"
  | "mcp-servers.json"
  | "approvals.json"
  | "allowed-checks.json"
  | "day-limits.json"
  | "provider-keys"
  | "signing-key";

/** What a change leaves: `after` absent leaves the document as it is. */
export interface Changed<T> {
  readonly after?: string;
  readonly result: T;
  /** The check of the key that something in it was sealed with for this change. Refused when the cluster has another by then. */
  readonly sealedWith?: string;
}

export interface Documents {
  /** Where it is, for messages. */
  placeOf(name: DocumentName): string;
  /** Undefined when there is none. */
  read(name: DocumentName): string | undefined;
  /**
   * Of two changes at once neither loses the other: `work` is called again with what the other one left. It only computes.
   * In a state folder of one machine it has been called, and the file written, when this returns.
   */
  change<T>(name: DocumentName, work: (before: string | undefined) => Changed<T>): Promise<T>;
  /** The same for what takes something back: it counts on every node when this resolves. */
  takeBack<T>(name: DocumentName, work: (before: string | undefined) => Changed<T>): Promise<T>;
  /** The name under which agreements about the project in this folder are kept. Empty: the person's own config. */
  projectOf(folder: string): string;
  /** The key that opens the secrets among them. Undefined where secrets have files of their own. */
  readonly key: (() => ClusterKey) | undefined;
  /** Who changes documents here. Undefined where there is only one person. */
  readonly by: string | undefined;
}
