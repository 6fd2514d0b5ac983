// Answers about workspaces, merges the work of tasks, and removes what is not needed any more.

import type { HttpContext } from "../context.ts";
import type { Handlers } from "../handler.ts";

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

export function workspaceHandlers({ state: { client } }: HttpContext): Pick<Handlers, WorkspaceRoute> {
  return {
    workspaces: async ({ query }) => ({ value: await client.workspacePage(query) }),
    removeWorkspace: async ({ params, query }) => ({ value: await client.removeWorkspace(params.workspace, query) }),
    restoreWorkspace: async ({ params }) => ({ value: await client.restoreWorkspace(params.workspace) }),
    pruneWorkspaces: async ({ body }) => ({ value: await client.pruneWorkspaces(body) }),
    taskWorkspace: async ({ params, query }) => ({ value: await client.taskWorkspace(params.task, query) }),
    taskDiff: async ({ params, query }) => ({ value: await client.workspaceDiff(params.task, query) }),
    integrateTasks: async ({ body }) => ({ value: await client.integrateTasks(body) }),
    mergeTask: async ({ params, body }) => ({ value: await client.mergeTask(params.task, body) }),
    pullRequestPlan: async ({ params, query }) => ({ value: await client.pullRequestPlan(params.task, query) }),
    openPullRequest: async ({ params, body }) => ({ value: await client.openPullRequest(params.task, body) }),
  };
}
