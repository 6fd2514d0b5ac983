// Answers about workspaces, merges the work of tasks, and removes what is not needed any more.

import type { Looking, Tutti } from "../../../client/client.ts";
import type { HttpContext } from "../context.ts";
import type { Handlers } from "../handler.ts";
import { type Asking, hereOrElsewhere } from "../here-or-elsewhere.ts";
import { mustBePerson } from "./of-caller.ts";

type WorkspaceRoute =
  | "workspaces"
  | "removeWorkspace"
  | "restoreWorkspace"
  | "pruneWorkspaces"
  | "taskWorkspace"
  | "taskDiff"
  | "mergeTask"
  | "pullRequestPlan"
  | "openPullRequest"
  | "integrateTasks";

/** Workspaces are on the machine that made them, so what is about one of them is asked of the node that has it. */
export function workspaceHandlers({ state }: HttpContext): Pick<Handlers, WorkspaceRoute> {
  const { client } = state;
  const found = async <T>(request: Asking, ask: (tutti: Tutti) => Promise<T>): Promise<{ readonly value: T }> => ({
    value: await hereOrElsewhere(state, request, ask),
  });
  return {
    workspaces: async ({ query, signal }) => ({ value: await client.workspacePage(query, { signal }) }),
    pruneWorkspaces: async ({ body }) => ({ value: await client.pruneWorkspaces(body) }),
    async removeWorkspace(request) {
      const { caller, params, query } = request;
      if (query.uncommitted === "discard") mustBePerson(caller, "discard work that is in no commit");
      return found(request, (tutti) => tutti.removeWorkspace(params.workspace, query));
    },
    restoreWorkspace: (request) => found(request, (tutti) => tutti.restoreWorkspace(request.params.workspace)),
    taskWorkspace: (request) =>
      found(request, (tutti) => tutti.taskWorkspace(request.params.task, request.query, lookingFor(request))),
    taskDiff: (request) =>
      found(request, (tutti) => tutti.workspaceDiff(request.params.task, request.query, lookingFor(request))),
    integrateTasks: (request) => found(request, (tutti) => tutti.integrateTasks(request.body)),
    async mergeTask(request) {
      const { caller, body } = request;
      if ((body.protected ?? []).length > 0) mustBePerson(caller, "approve protected files");
      if (body.unverified === true) mustBePerson(caller, "merge work that Tutti has not verified");
      if (body.allow_checked_out === true) mustBePerson(caller, "agree to change a checkout");
      return found(request, (tutti) => tutti.mergeTask(request.params.task, body));
    },
    pullRequestPlan: (request) =>
      found(request, (tutti) => tutti.pullRequestPlan(request.params.task, request.query, lookingFor(request))),
    async openPullRequest(request) {
      mustBePerson(request.caller, "push work and open a pull request");
      return found(request, (tutti) => tutti.openPullRequest(request.params.task, request.body));
    },
  };
}

/** What is looked up for a request ends with it. */
function lookingFor({ signal }: Asking): Looking {
  return { signal };
}
