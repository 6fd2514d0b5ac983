// The routes that control and observe the sessions of tasks.

import { DetailedObservation } from "../task/observation.ts";
import { jsonBody, jsonReply, route } from "./route-shape.ts";
import * as shapes from "./session-shapes.ts";
import { TaskParams } from "./task-shapes.ts";

export const sessionRoutes = {
  sessions: route({
    method: "GET",
    path: "/v1/sessions",
    tag: "sessions",
    about: "Sessions of tasks that are not over, newest first, in pages, with what each is doing",
    access: "viewer",
    query: shapes.SessionQuery,
    reply: jsonReply(shapes.SessionPage),
  }),
  observe: route({
    method: "GET",
    path: "/v1/tasks/{task}/observe",
    tag: "sessions",
    about: "What the session of the task is doing, with its latest events",
    access: "viewer",
    params: TaskParams,
    query: shapes.ObserveQuery,
    reply: jsonReply(DetailedObservation),
    refuses: [404],
  }),
  stopTask: route({
    method: "POST",
    path: "/v1/tasks/{task}/stop",
    tag: "sessions",
    about: "End the attempt of the task; it waits until it is resumed, for 30 days at most",
    access: "operator",
    params: TaskParams,
    body: { ...jsonBody(shapes.StopTask), optional: true },
    reply: jsonReply(shapes.StoppedTask),
    refuses: [403, 404, 409],
  }),
  killTask: route({
    method: "POST",
    path: "/v1/tasks/{task}/kill",
    tag: "sessions",
    about:
      "End the task and all below it at once, and remove their workspaces; work that is in no commit is saved first, or the workspace stays",
    access: "operator",
    params: TaskParams,
    body: { ...jsonBody(shapes.KillTask), optional: true },
    reply: jsonReply(shapes.KilledTask),
    refuses: [403, 404],
  }),
  resumeTask: route({
    method: "POST",
    path: "/v1/tasks/{task}/resume",
    tag: "sessions",
    about: "Let a task that was stopped go on with what was said until then",
    access: "operator",
    params: TaskParams,
    reply: jsonReply(shapes.ResumedTask),
    refuses: [403, 404, 409],
  }),
};
