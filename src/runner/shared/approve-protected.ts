// Asks a person about protected files that a session changed: without a yes to exactly these, its work is not merged.

import { z } from "zod";

import { allLines } from "../../agent/tools/file-look.ts";
import { approvalOutcome, type ApprovalSource, decideCalls } from "../../core/approval.ts";
import { inLine } from "../../core/foreign-words.ts";
import { protectedReason } from "../../core/protected-path.ts";
import { Answer } from "../../protocol/task/ask.ts";
import type { Durable } from "../../ports.ts";
import { approveProtected } from "../../workspace/index.ts";
import type { SavedSession, SessionWorkspaces } from "./session-folder.ts";

export interface ProtectedAsk {
  /** What the rules call whoever did it, such as `acp:claude`. */
  readonly tool: string;
  readonly saved: SavedSession;
  readonly sources: readonly ApprovalSource[];
}

/** A no changes nothing: the work stays on its branch, and merging it is refused until somebody approves the files by name. */
export async function askAboutProtected(
  durable: Durable,
  { store }: Pick<SessionWorkspaces, "store">,
  { tool, saved, sources }: ProtectedAsk,
): Promise<void> {
  if (saved.protected === null) return;
  const { files, patch } = saved.protected;
  const effect = { effects: ["protected"], confined: true } as const;
  const [judgement] = decideCalls([{ tool, effect }], sources);
  if (judgement === undefined || judgement.verdict !== "ask") return;
  const paths = files.map(({ path }) => path);
  const shown =
    patch === undefined
      ? [`The changes are too long to be shown here; look at them with \`tutti diff ${durable.task}\`.`]
      : // One line in the middle is enough to do harm.
        allLines(patch.trimEnd().split("\n"));
  const waited = await durable.wait("protected.approval", {
    ask: {
      kind: "approval",
      question: [
        `${inLine(durable.agent)} changed protected files on the branch ${inLine(saved.branch ?? "")}. May these changes be merged?`,
        "protected: such files can make other programs run code or change what Tutti may do",
        ...paths.map((path) => `  ${inLine(path)} (${protectedReason(path)})`),
        ...shown,
      ].join("\n"),
      details: {
        ...effect,
        reason: judgement.reason,
        rule: judgement.rule,
        protected: paths,
        branch: saved.branch,
        tip: saved.tip,
        ...(patch === undefined ? {} : { patch }),
      },
    },
    schema: Answer,
  });
  if (!approvalOutcome(waited).approved) return;
  await durable.step("protected.approved", { repeatable: true, schema: z.null() }, () => {
    approveProtected(store, saved.workspace, files);
    return null;
  });
}
