// The routes of workspaces: the folders in which sessions work, and what came of the work.

import { jsonBody, jsonReply, route } from "./route-shape.ts";
import { TaskParams } from "./task-shapes.ts";
import * as shapes from "./workspace-shapes.ts";

export const workspaceRoutes = {
  workspaces: route({
    method: "GET",
    path: "/v1/workspaces",
    tag: "workspaces",
    about: "Workspaces, oldest first, in pages: size, branch, and what would be lost without them",
    access: "viewer",
    query: shapes.WorkspaceListQuery,
    reply: jsonReply(shapes.WorkspacePage),
  }),
  removeWorkspace: route({
    method: "DELETE",
    path: "/v1/workspaces/{workspace}",
    tag: "workspaces",
    about: "Remove a workspace; its branch stays, and uncommitted work is refused, saved or discarded",
    access: "operator",
    params: shapes.WorkspaceParams,
    query: shapes.RemoveQuery,
    reply: jsonReply(shapes.RemovedView),
    refuses: [404, 409],
  }),
  restoreWorkspace: route({
    method: "POST",
    path: "/v1/workspaces/{workspace}/restore",
    tag: "workspaces",
    about: "Make a workspace again that was removed or is missing, from its branch and with the work that was saved",
    access: "operator",
    params: shapes.WorkspaceParams,
    reply: jsonReply(shapes.RestoredView),
    refuses: [404],
  }),
  pruneWorkspaces: route({
    method: "POST",
    path: "/v1/workspaces/prune",
    tag: "workspaces",
    about: "Remove workspaces by age and until they are small enough; never one in use or with uncommitted work",
    access: "operator",
    body: { ...jsonBody(shapes.PruneWorkspaces), optional: true },
    reply: jsonReply(shapes.PrunedWorkspaces),
  }),
  taskWorkspace: route({
    method: "GET",
    path: "/v1/tasks/{task}/workspace",
    tag: "workspaces",
    about: "The workspace of a task, of its newest attempt, or of the only task below it that has one",
    access: "viewer",
    params: TaskParams,
    reply: jsonReply(shapes.WorkspaceView),
    refuses: [404, 409],
  }),
  taskDiff: route({
    method: "GET",
    path: "/v1/tasks/{task}/diff",
    tag: "workspaces",
    about: "The commits, the changed files and the patch of a task, or of the only task below it that has a workspace",
    access: "viewer",
    params: TaskParams,
    query: shapes.DiffQuery,
    reply: jsonReply(shapes.WorkspaceDiff),
    refuses: [404, 409],
  }),
  mergeTask: route({
    method: "POST",
    path: "/v1/tasks/{task}/merge",
    tag: "workspaces",
    about: "Merge the branch of a task into another branch; a conflict is 409, lists the files and changes nothing",
    access: "operator",
    params: TaskParams,
    body: jsonBody(shapes.MergeTask),
    reply: jsonReply(shapes.MergedTask),
    refuses: [404, 409],
  }),
};
