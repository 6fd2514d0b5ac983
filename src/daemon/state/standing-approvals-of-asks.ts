// Lists, makes and revokes standing approvals. One is only ever made of an approval that is open, by a person who was asked.

import type { Tutti } from "../../client/client.ts";
import { taskBodyIn } from "../../engine/task-body.ts";
import { fits } from "../../core/standing-approvals.ts";
import { TuttiError } from "../../protocol/error.ts";
import { AlwaysDetails, type AllowedCalls, type CommandPattern } from "../../protocol/invocation/standing-approval.ts";
import type { TaskId } from "../../protocol/ids.ts";
import { idInName } from "../../store/names.ts";
import type { Store } from "../../store/store.ts";
import type { StoreView } from "../../store/view.ts";
import type { ProjectRuntimes } from "../project/project-runtimes.ts";
import type { KeptApprovals } from "../project/kept-approvals.ts";
import { owner } from "./api-keys.ts";

interface StandingDeps {
  readonly store: Pick<Store, "salt">;
  readonly view: Pick<StoreView, "taskRow">;
  readonly kept: KeptApprovals;
  readonly ask: Tutti["ask"];
  readonly runtimes: Pick<ProjectRuntimes, "projectHere">;
}

/** Only the local client's caller knows who asks for this: over HTTP, the route takes an admin key and nothing less. */
export function standingApprovals({
  store,
  view,
  kept,
  runtimes,
  ask: openAsk,
}: StandingDeps): Pick<Tutti, "approvals" | "addApproval" | "revokeApproval"> {
  const projectOf = async (root: TaskId): Promise<string | undefined> => {
    const id = idInName(store.salt, root);
    const row = id === undefined ? undefined : await view.taskRow(id);
    return row === undefined ? undefined : runtimes.projectHere(taskBodyIn(row.body).config);
  };
  return {
    approvals: async () => kept.list(),
    async addApproval({ ask, argv }, by, { caller = owner } = {}) {
      const found = await openAsk(ask);
      const { data } = found.kind === "approval" ? AlwaysDetails.safeParse(found.details) : {};
      const project = await projectOf(found.root);
      if (data === undefined || project === undefined) {
        throw new TuttiError("conflict", `${ask} cannot be allowed for good: a person must decide each time`);
      }
      const calls = argv === undefined ? data.always : widened(data.always, argv);
      return kept.add({ project, calls, by: by.name, ...(caller === owner ? {} : { key: caller }) });
    },
    revokeApproval: (id) => kept.revoke(id),
  };
}

function widened(calls: AllowedCalls, argv: CommandPattern): AllowedCalls {
  if (calls.argv === undefined) throw new TuttiError("invalid_input", "a pattern is for commands, and this is none");
  if (!fits(argv, calls.argv)) {
    const message =
      "the command that is asked about does not fit this pattern; `*` stands for whole words that are no options";
    throw new TuttiError("invalid_input", message);
  }
  return { ...calls, argv };
}
