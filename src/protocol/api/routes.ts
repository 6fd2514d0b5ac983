// All routes of the API. The server dispatches by this table, the client calls by it, the OpenAPI document is made from it.

import { catalogRoutes } from "./catalog-routes.ts";
import { goalRoutes } from "./goal-routes.ts";
import { conversationRoutes } from "./conversation-routes.ts";
import { insightRoutes } from "./insight-routes.ts";
import { operatorRoutes, workerRoutes } from "./operator-routes.ts";
import type { RouteSpec } from "./route-shape.ts";
import { keyRoutes, serviceRoutes } from "./service-routes.ts";
import { scheduleRoutes } from "./schedule-routes.ts";
import { sessionRoutes } from "./session-routes.ts";
import { signInRoutes } from "./sign-in-routes.ts";
import { askRoutes, taskRoutes } from "./task-routes.ts";
import { threadRoutes } from "./thread-routes.ts";
import { workspaceRoutes } from "./workspace-routes.ts";

export const routes = {
  ...serviceRoutes,
  ...goalRoutes,
  ...taskRoutes,
  ...sessionRoutes,
  ...conversationRoutes,
  ...threadRoutes,
  ...askRoutes,
  ...scheduleRoutes,
  ...workspaceRoutes,
  ...catalogRoutes,
  ...insightRoutes,
  ...operatorRoutes,
  ...workerRoutes,
  ...keyRoutes,
  ...signInRoutes,
} as const satisfies Record<string, RouteSpec>;

export type Routes = typeof routes;
export type RouteName = keyof Routes;
