// Which operators a task tree names as its gate and its senior.

import { z } from "zod";

import { TreeOperators } from "../../protocol/invocation/invocation-file.ts";
import type { OperatorReads } from "../../store/reads-for-operators.ts";

const maxCached = 1024;
const RootBody = z.object({ input: z.object({ operators: TreeOperators.optional() }) });

/** Looks up the operators of a tree by its root. Caches them: the input of a root never changes. */
export function treeOperators(
  reads: Pick<OperatorReads, "recordWithOperators">,
): (root: number) => Promise<TreeOperators> {
  const cache = new Map<number, TreeOperators>();
  return async (root) => {
    const cached = cache.get(root);
    if (cached !== undefined) return cached;
    const body = await reads.recordWithOperators(root);
    const found = (body === undefined ? undefined : RootBody.safeParse(JSON.parse(body)).data?.input.operators) ?? {};
    const [oldest] = cache.keys();
    if (cache.size >= maxCached && oldest !== undefined) cache.delete(oldest);
    cache.set(root, found);
    return found;
  };
}
