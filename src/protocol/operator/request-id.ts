// Request ids on an operator socket: `<sid>-<ask|hb|ha|spawn>-<uuid>`.

/** The requests that wait for a reply. `hook_after` waits for none, and has an id only so that a log can name it. */
export const requestKinds = ["ask", "hook_before", "spawn"] as const;
export type RequestKind = (typeof requestKinds)[number];

const infixes = { ask: "ask", hook_before: "hb", hook_after: "ha", spawn: "spawn" } as const satisfies Record<
  RequestKind | "hook_after",
  string
>;

export interface RequestIdParts {
  readonly sid: string;
  readonly kind: RequestKind | "hook_after";
  readonly uuid: string;
}

export function formatRequestId({ sid, kind, uuid }: RequestIdParts): string {
  return `${sid}-${infixes[kind]}-${uuid}`;
}

const maxLength = 256;
const pattern =
  /^(?<sid>.+)-(?<infix>ask|hb|ha|spawn)-(?<uuid>[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$/u;

/** The inverse of `formatRequestId`; undefined for anything else. A sid may itself hold dashes, even `-ask-`. */
export function parseRequestId(text: string): RequestIdParts | undefined {
  const groups = text.length <= maxLength ? pattern.exec(text)?.groups : undefined;
  if (groups === undefined) return undefined;
  const kind = kindOf(groups["infix"]);
  const { sid, uuid } = groups;
  return kind === undefined || sid === undefined || uuid === undefined ? undefined : { sid, kind, uuid };
}

function kindOf(infix: string | undefined): RequestIdParts["kind"] | undefined {
  return ([...requestKinds, "hook_after"] as const).find((kind) => infixes[kind] === infix);
}
