// The handlers of all routes.

import type { HttpContext } from "../context.ts";
import type { Handlers } from "../handler.ts";
import { attendHandlers } from "./attend-handlers.ts";
import { askHandlers } from "./ask-handlers.ts";
import { catalogHandlers } from "./catalog-handlers.ts";
import { conversationHandlers } from "./conversation-handlers.ts";
import { eventHandlers } from "./event-handlers.ts";
import { goalHandlers } from "./goal-handlers.ts";
import { insightHandlers } from "./insight-handlers.ts";
import { operatorHandlers } from "./operator-handlers.ts";
import { keyHandlers, serviceHandlers } from "./service-handlers.ts";
import { scheduleHandlers } from "./schedule-handlers.ts";
import { sessionHandlers } from "./session-handlers.ts";
import { signInHandlers } from "./sign-in-handlers.ts";
import { taskHandlers } from "./task-handlers.ts";
import { threadHandlers } from "./thread-handlers.ts";
import { workerHandlers } from "./worker-handlers.ts";
import { workspaceHandlers } from "./workspace-handlers.ts";

export function allHandlers(context: HttpContext): Handlers {
  return {
    ...serviceHandlers(context),
    ...keyHandlers(context),
    ...signInHandlers(context),
    ...goalHandlers(context),
    ...taskHandlers(context),
    ...sessionHandlers(context),
    ...scheduleHandlers(context),
    ...conversationHandlers(context),
    ...threadHandlers(context),
    ...workspaceHandlers(context),
    ...eventHandlers(context),
    ...askHandlers(context),
    ...attendHandlers(context),
    ...catalogHandlers(context),
    ...insightHandlers(context),
    ...operatorHandlers(context),
    ...workerHandlers(context),
  };
}
