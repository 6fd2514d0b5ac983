// The routes of operators and of the workers they launch.

import { z } from "zod";
import {
  JoinedOperator,
  JoinOperator,
  OperatorInfo,
  OperatorSid,
  OperatorTicket,
} from "../operator/operator-session.ts";
import {
  WorkerAsk,
  WorkerAskAnswer,
  WorkerEvents,
  WorkerEventsAccepted,
  WorkerPrompt,
  WorkerPromptQuery,
  WorkerRecorded,
  WorkerResult,
  WorkerSubmitQuery,
} from "../operator/worker.ts";
import { ListQuery, nextItem } from "./list-query.ts";
import { jsonBody, jsonReply, route } from "./route-shape.ts";
import { IdempotencyHeaders } from "./task-shapes.ts";

const sessionParams = z.strictObject({ sid: OperatorSid });

export const operatorRoutes = {
  joinOperator: route({
    method: "POST",
    path: "/v1/operators",
    tag: "operators",
    about: "Join as an operator; the token is shown only this once, unless the same idempotency key comes again",
    access: "operator",
    headers: IdempotencyHeaders,
    body: { ...jsonBody(JoinOperator), optional: true },
    reply: { type: "json", status: 200, schema: JoinedOperator },
    refuses: [409],
  }),
  operators: route({
    method: "GET",
    path: "/v1/operators",
    tag: "operators",
    about: "The operators that have joined, in pages",
    access: "viewer",
    query: ListQuery,
    reply: jsonReply(z.strictObject({ operators: z.array(OperatorInfo), next: nextItem })),
  }),
  operator: route({
    method: "GET",
    path: "/v1/operators/{sid}",
    tag: "operators",
    about: "One operator",
    access: "session",
    params: sessionParams,
    reply: jsonReply(OperatorInfo),
    refuses: [404],
  }),
  leaveOperator: route({
    method: "DELETE",
    path: "/v1/operators/{sid}",
    tag: "operators",
    about: "End the session: requests that wait for it are refused, and its names become free",
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
    reply: jsonReply(OperatorTicket),
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

export const workerRoutes = {
  workerPrompt: route({
    method: "GET",
    path: "/v1/worker/prompt",
    tag: "workers",
    about: "The prompt of the task",
    access: "worker",
    query: WorkerPromptQuery,
    reply: jsonReply(WorkerPrompt),
    refuses: [409, 410],
  }),
  workerResult: route({
    method: "POST",
    path: "/v1/worker/result",
    tag: "workers",
    about: "Post the result as JSON; the first result counts",
    access: "worker",
    body: jsonBody(WorkerResult),
    reply: jsonReply(WorkerRecorded),
    refuses: [409, 410],
  }),
  workerSubmit: route({
    method: "POST",
    path: "/v1/worker/submit",
    tag: "workers",
    about: "Post the result as the raw body; the first result counts",
    access: "worker",
    query: WorkerSubmitQuery,
    body: { type: "text" },
    reply: jsonReply(WorkerRecorded),
    refuses: [409, 410],
  }),
  workerEvents: route({
    method: "POST",
    path: "/v1/worker/events",
    tag: "workers",
    about: "Post progress; renews the lease and the token",
    access: "worker",
    body: jsonBody(WorkerEvents),
    reply: jsonReply(WorkerEventsAccepted),
    refuses: [409, 410, 413],
  }),
  workerAsk: route({
    method: "POST",
    path: "/v1/worker/ask",
    tag: "workers",
    about: "Ask a person or the senior operator; the same key again polls for the answer",
    access: "worker",
    body: jsonBody(WorkerAsk),
    reply: jsonReply(WorkerAskAnswer),
    refuses: [409, 410, 413],
  }),
};
