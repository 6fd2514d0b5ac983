// A page of bounded size, put together of smaller ones: what is in one of its items may be megabytes long.

interface PageOf<T> {
  readonly items: readonly T[];
  /** After which the next page begins; null on the last. */
  readonly next: number | null;
}

interface Asked {
  readonly after: number;
  readonly limit: number;
}

const firstStep = 8;
const widestStep = 64;
/** A page of long items ends early, and says where the next begins. */
export const maxPageLength = 4 * 1024 * 1024;

export async function boundedPage<T>(
  read: (asked: Asked) => Promise<PageOf<T>>,
  { after, limit }: Asked,
): Promise<{ items: T[]; next: number | null }> {
  const items: T[] = [];
  let [length, step] = [0, firstStep];
  let next: number | null = after;
  while (next !== null && items.length < limit && length < maxPageLength) {
    const page: PageOf<T> = await read({ after: next, limit: Math.min(step, limit - items.length) });
    items.push(...page.items);
    next = page.next;
    length += JSON.stringify(page.items).length;
    const fitting = Math.ceil(((maxPageLength - length) * items.length) / length);
    step = Math.max(1, Math.min(widestStep, 2 * step, fitting));
  }
  return { items, next };
}
