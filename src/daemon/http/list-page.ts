// A page of a list that is in memory, such as keys or agents.

import { TuttiError } from "../../protocol/error.ts";

interface ListRequest {
  readonly limit: number;
  /** The name of the last item of the page before. */
  readonly cursor?: string | undefined;
}

/** In characters of JSON. The item that reaches it is the last of its page. */
const maxLength = 1024 * 1024;

/** The list must have the same order every time, and every item a name of its own. */
export function listPage<T>(
  list: readonly T[],
  { limit, cursor }: ListRequest,
  nameOf: (item: T) => string,
): { items: T[]; next: string | null } {
  const from = cursor === undefined ? 0 : list.findIndex((item) => nameOf(item) === cursor) + 1;
  if (cursor !== undefined && from === 0) {
    throw new TuttiError(
      "invalid_input",
      `the list has changed and no longer has ${cursor}; read it from the beginning`,
    );
  }
  const items: T[] = [];
  let length = 0;
  for (const item of list.slice(from, from + limit)) {
    if (length >= maxLength) break;
    items.push(item);
    length += JSON.stringify(item).length;
  }
  const last = items.at(-1);
  return { items, next: last === undefined || from + items.length >= list.length ? null : nameOf(last) };
}
