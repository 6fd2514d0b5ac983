// Which node each operator is connected to, where there are several: the newest connection counts, whichever node has it.

/** Absent where there is one process. */
export interface OperatorPlaces {
  /** The operator is connected here, over this connection. */
  connected(sid: string, connection: string): void;
  disconnected(sid: string, connection: string): void;
  /** The operators that are connected to any living node. */
  all(): Promise<ReadonlySet<string>>;
}

/** The connection of an operator session to this node. */
export interface Place {
  readonly connection: string;
  /** It is recorded. What was recorded before it is older and does not replace it. */
  recorded: boolean;
}

/** What is recorded of a connection: true if it replaces the one that is here. */
export function isReplaced(place: Place, connection: string): boolean {
  if (connection !== place.connection) return place.recorded;
  place.recorded = true;
  return false;
}
