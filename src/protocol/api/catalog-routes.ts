// The routes of the catalog: agents, runners, models, and the routing policy.

import * as catalog from "./catalog.ts";
import { jsonBody, jsonReply, route } from "./route-shape.ts";

export const catalogRoutes = {
  agents: route({
    method: "GET",
    path: "/v1/agents",
    tag: "catalog",
    about: "The agents of a project and of the user, in pages",
    access: "viewer",
    query: catalog.AgentsQuery,
    reply: jsonReply(catalog.AgentList),
    refuses: [404],
  }),
  agent: route({
    method: "GET",
    path: "/v1/agents/{name}",
    tag: "catalog",
    about: "One agent",
    access: "viewer",
    params: catalog.AgentParams,
    query: catalog.FolderQuery,
    reply: jsonReply(catalog.AgentView),
    refuses: [404],
  }),
  runners: route({
    method: "GET",
    path: "/v1/runners",
    tag: "catalog",
    about:
      "Where a task's loop can run: the built-in runners, and with `folder` those that the project registers, in pages",
    access: "viewer",
    query: catalog.RunnersQuery,
    reply: jsonReply(catalog.RunnerList),
    refuses: [404],
  }),
  models: route({
    method: "GET",
    path: "/v1/models",
    tag: "catalog",
    about: "The models of a project, their prices, and whether their keys are there, in pages",
    access: "viewer",
    query: catalog.ModelsQuery,
    reply: jsonReply(catalog.ModelList),
    refuses: [404],
  }),
  policy: route({
    method: "GET",
    path: "/v1/policy",
    tag: "catalog",
    about: "The routing policy of a project, as a goal that starts now would keep it",
    access: "viewer",
    query: catalog.FolderQuery,
    reply: jsonReply(catalog.PolicyInForce),
    refuses: [404],
  }),
  route: route({
    method: "POST",
    path: "/v1/policy/route",
    tag: "catalog",
    about: "Which model gets a handoff by a policy, and why",
    access: "viewer",
    body: jsonBody(catalog.PolicyQuestion),
    reply: jsonReply(catalog.PolicyDecision),
  }),
  review: route({
    method: "POST",
    path: "/v1/policy/review",
    tag: "catalog",
    about: "What a review envelope decides by a policy, and why",
    access: "viewer",
    body: jsonBody(catalog.ReviewQuestion),
    reply: jsonReply(catalog.ReviewDecision),
  }),
};
