// Asks Anthropic to leave out a thinking block that it does not accept any more, instead of refusing the whole request.

import type { ResolvedModel } from "./resolve-model.ts";

interface BlockBinding {
  readonly blockBinding: { readonly prefixMismatchBehavior: "drop_block" };
}

const dropBlock: BlockBinding = { blockBinding: { prefixMismatchBehavior: "drop_block" } };

/** The first versions whose thinking is bound to its conversation. Older models do not know the setting and refuse it. */
const firstMinorOf5: Readonly<Record<string, number>> = { fable: 1, mythos: 1, opus: 5, sonnet: 5, haiku: 5 };

/** Undefined for models without such a setting. */
export function thinkingBinding({ id, provider }: Pick<ResolvedModel, "id" | "provider">): BlockBinding | undefined {
  if (provider.kind !== "anthropic") return undefined;
  const [, family = "", major = "", minor = "0"] = /^claude-([a-z]+)-(\d+)(?:-(\d{1,2}))?(?:-|$)/.exec(id) ?? [];
  const first = firstMinorOf5[family];
  if (first === undefined) return undefined;
  return Number(major) > 5 || (major === "5" && Number(minor) >= first) ? dropBlock : undefined;
}
