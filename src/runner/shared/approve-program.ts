// Asks a person before the root of a program's tree begins, if the program wants what only a person decides.

import { approvalOutcome } from "../../core/approval.ts";
import { wishesQuestion } from "../../core/program-work.ts";
import type { Durable, Runner } from "../../ports.ts";
import { TuttiError } from "../../protocol/error.ts";
import { type ByProgram, byProgramIn } from "../../protocol/invocation/by-program.ts";
import { Answer } from "../../protocol/task/ask.ts";

/** For runners of roots: all other tasks of a tree come from its root, so nothing runs before the answer. */
export function agreedByPerson(runner: Runner): Runner {
  return async (durable, config) => {
    const mark = durable.task === durable.root ? byProgramIn(durable.rootConfig) : undefined;
    if (mark !== undefined && mark.wants.length > 0) await awaitPerson(durable, mark);
    return runner(durable, config);
  };
}

async function awaitPerson(durable: Durable, mark: ByProgram): Promise<void> {
  const waited = await durable.wait("program.approval", {
    ask: { kind: "approval", question: wishesQuestion(mark), details: { by_program: mark } },
    schema: Answer,
  });
  const outcome = approvalOutcome(waited);
  if (!outcome.approved) throw new TuttiError("refused", `nothing was started: ${outcome.reason}`);
  // The engine refuses such an answer already; this holds for whatever delivers one.
  if (!("by" in waited) || waited.by.kind !== "person") {
    throw new TuttiError("refused", "nothing was started: only a person can agree to what a program wants");
  }
}
