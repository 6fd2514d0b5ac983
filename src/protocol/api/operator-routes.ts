// The routes of operators and of the workers they launch.

import { z } from "zod";
import { JoinedOperator, JoinOperator, OperatorInfo, OperatorSid } from "../operator/operator-session.ts";
import {
  WorkerAsk,
  WorkerAskAnswer,
  WorkerEvents,
  WorkerEventsAccepted,
  WorkerPrompt,
  WorkerPromptQuery,
  WorkerResult,
  WorkerSubmitQuery,
} from "../operator/worker.ts";
import { json, route, taking } from "./route-shape.ts";

const sessionParams = z.strictObject({ sid: OperatorSid });

export const operatorRoutes = {
  joinOperator: route({
    method: "POST",
    path: "/v1/operators",
    tag: "operators",
    about: "Join as an operator; the token is shown this once",
    access: "operator",
    body: { ...taking(JoinOperator), optional: true },
    reply: { type: "json", status: 200, schema: JoinedOperator },
    refuses: [409],
  }),
  operators: route({
    method: "GET",
    path: "/v1/operators",
    tag: "operators",
    about: "Who has joined",
    access: "viewer",
    reply: json(z.strictObject({ operators: z.array(OperatorInfo) })),
  }),
  operator: route({
    method: "GET",
    path: "/v1/operators/{sid}",
    tag: "operators",
    about: "One operator",
    access: "session",
    params: sessionParams,
    reply: json(OperatorInfo),
    refuses: [404],
  }),
  leaveOperator: route({
    method: "DELETE",
    path: "/v1/operators/{sid}",
    tag: "operators",
    about: "End the session: what waits for it is refused, its names are free",
    access: "session",
    params: sessionParams,
    reply: { type: "empty", status: 204 },
    refuses: [404],
  }),
  ticket: route({
    method: "POST",
    path: "/v1/operators/{sid}/ticket",
    tag: "operators",
    about: "A ticket for one connection, for browsers, which cannot send a header with a WebSocket",
    access: "session",
    params: sessionParams,
    reply: json(z.strictObject({ ticket: z.string(), expires_at: z.int() })),
    refuses: [404],
  }),
  operatorSocket: route({
    method: "GET",
    path: "/v1/operators/{sid}/ws",
    tag: "operators",
    about: "The operator's WebSocket; the subprotocol tutti.v1 adds error frames",
    access: "session",
    params: sessionParams,
    query: z.strictObject({ ticket: z.string().max(64).optional() }),
    reply: { type: "upgrade", status: 101 },
    refuses: [404, 426],
  }),
};

const recorded = z.strictObject({
  recorded: z.literal(true),
  /** The same result was recorded before; nothing changed. */
  already: z.boolean(),
});

export const workerRoutes = {
  workerPrompt: route({
    method: "GET",
    path: "/v1/worker/prompt",
    tag: "workers",
    about: "What the task is",
    access: "worker",
    query: WorkerPromptQuery,
    reply: json(WorkerPrompt),
    refuses: [409, 410],
  }),
  workerResult: route({
    method: "POST",
    path: "/v1/worker/result",
    tag: "workers",
    about: "The result, as JSON; the first one wins",
    access: "worker",
    body: taking(WorkerResult),
    reply: json(recorded),
    refuses: [409, 410],
  }),
  workerSubmit: route({
    method: "POST",
    path: "/v1/worker/submit",
    tag: "workers",
    about: "The result, as the raw body; the first one wins",
    access: "worker",
    query: WorkerSubmitQuery,
    body: { type: "text" },
    reply: json(recorded),
    refuses: [409, 410],
  }),
  workerEvents: route({
    method: "POST",
    path: "/v1/worker/events",
    tag: "workers",
    about: "Progress; renews the lease and the token",
    access: "worker",
    body: taking(WorkerEvents),
    reply: json(WorkerEventsAccepted),
    refuses: [409, 410],
  }),
  workerAsk: route({
    method: "POST",
    path: "/v1/worker/ask",
    tag: "workers",
    about: "Ask a person or the senior operator; the same key again polls for the answer",
    access: "worker",
    body: taking(WorkerAsk),
    reply: json(WorkerAskAnswer),
    refuses: [409, 410],
  }),
};
