// Reads a page that is limited in size as well as in the number of its items, because one item may have megabytes.

interface Page<T> {
  readonly items: readonly T[];
  /** The position after which the next page begins; null on the last page. */
  readonly next: number | null;
}

interface PageRequest {
  readonly after: number;
  readonly limit: number;
}

const firstBatch = 8;
const maxBatch = 64;
/** In characters of JSON. A page that reaches it ends, and says where the next one begins. */
export const maxPageLength = 4 * 1024 * 1024;

/** Reads in batches, whose size is chosen by the length of the items read so far. */
export async function sizeLimitedPage<T>(
  read: (request: PageRequest) => Promise<Page<T>>,
  { after, limit }: PageRequest,
): Promise<{ items: T[]; next: number | null }> {
  const items: T[] = [];
  let [length, batch] = [0, firstBatch];
  let next: number | null = after;
  while (next !== null && items.length < limit && length < maxPageLength) {
    const page: Page<T> = await read({ after: next, limit: Math.min(batch, limit - items.length) });
    items.push(...page.items);
    next = page.next;
    length += JSON.stringify(page.items).length;
    const fitting = Math.ceil(((maxPageLength - length) * items.length) / length);
    batch = Math.max(1, Math.min(maxBatch, 2 * batch, fitting));
  }
  return { items, next };
}
