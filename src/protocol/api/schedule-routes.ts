// The routes of schedules.

import { jsonBody, jsonReply, route } from "./route-shape.ts";
import * as shapes from "./schedule-shapes.ts";

export const scheduleRoutes = {
  schedules: route({
    method: "GET",
    path: "/v1/schedules",
    tag: "schedules",
    about: "Schedules, oldest first, in pages, each with its next time",
    access: "viewer",
    query: shapes.ScheduleQuery,
    reply: jsonReply(shapes.SchedulePage),
  }),
  addSchedule: route({
    method: "POST",
    path: "/v1/schedules",
    tag: "schedules",
    about: "Start work again and again, at the times of a cron expression; 200 instead of 201 if it existed already",
    access: "operator",
    body: jsonBody(shapes.NewSchedule),
    reply: { type: "json", status: 201, schema: shapes.MadeSchedule, also: [200] },
  }),
  removeSchedule: route({
    method: "DELETE",
    path: "/v1/schedules/{schedule}",
    tag: "schedules",
    about: "End a schedule; what it started goes on",
    access: "operator",
    params: shapes.ScheduleParams,
    reply: jsonReply(shapes.RemovedSchedule),
    refuses: [404],
  }),
};
