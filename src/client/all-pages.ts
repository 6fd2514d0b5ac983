// Reads a list to its end, page by page.

interface ListPage<T> {
  readonly items: readonly T[];
  /** The cursor of the next page; null on the last. */
  readonly next: string | null;
}

export async function allPages<T>(read: (at: { readonly cursor?: string }) => Promise<ListPage<T>>): Promise<T[]> {
  const all: T[] = [];
  for (let cursor: string | undefined; ;) {
    const { items, next } = await read(cursor === undefined ? {} : { cursor });
    all.push(...items);
    if (next === null) return all;
    cursor = next;
  }
}
