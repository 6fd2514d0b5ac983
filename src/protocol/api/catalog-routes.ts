// The routes that tell what there is to work with.

import * as house from "./catalog.ts";
import { json, route, taking } from "./route-shape.ts";

export const catalogRoutes = {
  agents: route({
    method: "GET",
    path: "/v1/agents",
    tag: "catalog",
    about: "The agents of a project and of the user",
    access: "viewer",
    query: house.FolderQuery,
    reply: json(house.AgentList),
    refuses: [404],
  }),
  agent: route({
    method: "GET",
    path: "/v1/agents/{name}",
    tag: "catalog",
    about: "One agent",
    access: "viewer",
    params: house.AgentParams,
    query: house.FolderQuery,
    reply: json(house.AgentView),
    refuses: [404],
  }),
  runners: route({
    method: "GET",
    path: "/v1/runners",
    tag: "catalog",
    about: "Where a task's loop can run",
    access: "viewer",
    reply: json(house.RunnerList),
  }),
  models: route({
    method: "GET",
    path: "/v1/models",
    tag: "catalog",
    about: "The models of a project, their prices, and whether their keys are there",
    access: "viewer",
    query: house.ModelsQuery,
    reply: json(house.ModelList),
    refuses: [404],
  }),
  route: route({
    method: "POST",
    path: "/v1/policy/route",
    tag: "catalog",
    about: "Which model gets a handoff by a policy, and why",
    access: "viewer",
    body: taking(house.PolicyQuestion),
    reply: json(house.PolicyDecision),
  }),
};
