// The routes that look over everything: search, the board of goals, and how the fleet does. All are answered from an index.

import { z } from "zod";
import { EvidenceId } from "../ids.ts";
import { Evidence } from "../task/evidence.ts";
import * as shapes from "./insight-shapes.ts";
import { jsonReply, route } from "./route-shape.ts";

export const insightRoutes = {
  search: route({
    method: "GET",
    path: "/v1/search",
    tag: "insight",
    about: "Find words in goals, tasks, transcripts, results, questions and evidence, newest first, in pages",
    access: "viewer",
    query: shapes.SearchQuery,
    reply: jsonReply(shapes.SearchPage),
    refuses: [404],
  }),
  board: route({
    method: "GET",
    path: "/v1/board",
    tag: "insight",
    about: "All goals over all projects, with how far each is, what it costs and what waits, newest first, in pages",
    access: "viewer",
    query: shapes.BoardQuery,
    reply: jsonReply(shapes.Board),
  }),
  evidence: route({
    method: "GET",
    path: "/v1/evidence/{evidence}",
    tag: "insight",
    about: "One fact that supports or contradicts a claim, whole, with the output that was kept",
    access: "viewer",
    params: z.strictObject({ evidence: EvidenceId }),
    reply: jsonReply(Evidence),
    refuses: [404],
  }),
  fleetSeries: route({
    method: "GET",
    path: "/v1/fleet/series",
    tag: "insight",
    about: "Tasks that began and ended, questions, tokens and money over time",
    access: "viewer",
    query: shapes.FleetQuery,
    reply: jsonReply(shapes.FleetSeries),
  }),
  fleetTasks: route({
    method: "GET",
    path: "/v1/fleet/tasks",
    tag: "insight",
    about: "The tasks that took longest, or that nothing was heard of for longest",
    access: "viewer",
    query: shapes.FleetTasksQuery,
    reply: jsonReply(shapes.FleetTasks),
  }),
  fleetErrors: route({
    method: "GET",
    path: "/v1/fleet/errors",
    tag: "insight",
    about: "How often which error occurred, and where it occurred last",
    access: "viewer",
    query: shapes.FleetQuery,
    reply: jsonReply(shapes.FleetErrors),
  }),
};
