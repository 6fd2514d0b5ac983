// Makes what other nodes did to shared records hold here: pages that signed out, operators that joined or left.

import type { OperatorHub } from "../operators/operator-hub.ts";
import type { SharedByNodes } from "./kept-records.ts";
import type { PageTokens } from "./page-tokens.ts";

export interface FollowSharedOptions {
  readonly shared: Pick<SharedByNodes, "onShared">;
  readonly pages: Pick<PageTokens, "ended">;
  readonly operators: Pick<OperatorHub, "followShared">;
}

/** The keys follow by themselves. Returns a function that stops it. */
export function followShared({ shared, pages, operators }: FollowSharedOptions): () => void {
  return shared.onShared((changes) => {
    operators.followShared(changes);
    for (const { name, row, gone } of changes) if (name === "page_tokens" && gone) pages.ended(String(row["digest"]));
  });
}
