// The API as an OpenAPI 3.1 document, made from the route table.

import { ClientFrame, operatorSubprotocol, ServerFrame } from "../operator/frames.ts";
import { LiveDelta, TaskEvent } from "../task/event.ts";
import { type Field, type Schema, type Shapes, shapes } from "./openapi-shapes.ts";
import { parameterNotes } from "./parameter-notes.ts";
import { Problem, problemType } from "./problem.ts";
import type { RouteBody, RouteReply, RouteSpec } from "./route-shape.ts";
import { routes } from "./routes.ts";
import { StreamEnd } from "./task-shapes.ts";

/** The version of the API, not of the program that serves it. */
const apiVersion = "1.0.0";

const about = `Everything Tutti does, over HTTP. Send \`Authorization: Bearer <key>\` unless a route is public; the admin key is
in the file \`admin.key\` of the state folder. Bodies are JSON with \`Content-Type: application/json\` unless a route says
otherwise; fields that are not described are refused, except inside an invocation, where they cause warnings. A refused
request is answered with a problem document (RFC 9457) with a \`code\`, a \`detail\` that says what to do, and \`retry\`:
\`never\`, \`safe\` or \`unknown\` (the request may have had its effect: check before you repeat it). Times are milliseconds
since 1970.`;

const tags = [
  { name: "service", description: "The service itself" },
  { name: "goals", description: "What people ask for: handed over, followed, and reported with evidence" },
  { name: "invocations", description: "Starting work" },
  { name: "tasks", description: "Tasks, running and ended" },
  { name: "workspaces", description: "The folders in which sessions work, and what came of the work" },
  { name: "events", description: "What happened, in order, as pages or as a stream" },
  { name: "threads", description: "Conversations that go on after a task has ended" },
  { name: "conversations", description: "Talking with the manager about goals and sessions" },
  { name: "sessions", description: "What the sessions of tasks are doing, and how they are stopped and resumed" },
  { name: "schedules", description: "Work that is started again and again, at the times of a cron expression" },
  { name: "asks", description: "What tasks wait for: answers to questions, and results of the client's own tools" },
  { name: "catalog", description: "Agents, runners, models and the routing policy" },
  {
    name: "operators",
    description: "People and programs that answer questions, approve tasks before they start, and do them",
  },
  { name: "workers", description: "Processes that do a task for an operator" },
  { name: "insight", description: "Search, the board of goals, and how the fleet does" },
  { name: "keys", description: "The keys of callers" },
];

const securitySchemes = {
  key: {
    type: "http",
    scheme: "bearer",
    bearerFormat: "tk_…",
    description: "A key. Its role is viewer, operator or admin; each role may also do what those before it may.",
  },
  session: {
    type: "http",
    scheme: "bearer",
    bearerFormat: "ot-…",
    description: "The token of the operator's own session, given once when it joined.",
  },
  worker: {
    type: "http",
    scheme: "bearer",
    description: "The worker handle (`wh-…`) or the capability token of one attempt of one task.",
  },
  ticket: {
    type: "apiKey",
    in: "query",
    name: "ticket",
    description: "A ticket for one connection, for browsers. It is good once, for 30 seconds.",
  },
};

/** What a status means, on every route. */
const refusals: Readonly<Record<number, string>> = {
  400: "The request cannot be understood",
  401: "The bearer is missing or not known",
  403: "This bearer, host or origin is not allowed to do this",
  404: "It does not exist",
  409: "It conflicts with what exists, or was already decided",
  410: "It has ended",
  413: "The body is too large",
  415: "The route does not take this type of body",
  422: "A parameter or the body does not match its schema",
  426: "This route is a WebSocket; ask for the upgrade",
  429: "Too many failed attempts, or this key has too much in flight; wait as long as `Retry-After` says",
  503: "The service is stopping, or cannot work now",
};

let made: Schema | undefined;

/** Built at the first call; always the same. */
export function openApiDocument(): Schema {
  made ??= document();
  return made;
}

function document(): Schema {
  const known = shapes();
  const paths: Record<string, Record<string, unknown>> = {};
  for (const [name, route] of Object.entries<RouteSpec>(routes)) {
    const path = (paths[route.path] ??= {});
    path[route.method.toLowerCase()] = operation(name, route, known);
  }
  return known.complete({
    openapi: "3.1.1",
    info: {
      title: "Tutti",
      version: apiVersion,
      description: about.replaceAll("\n", " "),
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "http://127.0.0.1:7878", description: "The default address" }],
    tags,
    paths,
    components: {
      responses: Object.fromEntries(
        Object.entries({ ...refusals, other: "Any other refusal" }).map(([status, description]) => [
          status,
          { description, content: { [problemType]: { schema: known.output(Problem) } } },
        ]),
      ),
      securitySchemes,
    },
  });
}

function operation(name: string, route: RouteSpec, known: Shapes): Schema {
  const fields = (place: string, list: readonly Field[]) => list.map((field) => parameter(place, field));
  const parameters = [
    ...(route.params === undefined ? [] : fields("path", known.fields(route.params))),
    ...(route.query === undefined ? [] : fields("query", known.fields(route.query))),
    ...(route.headers === undefined ? [] : fields("header", known.fields(route.headers))),
  ].filter((each) => each["name"] !== "ticket");
  return {
    operationId: name,
    tags: [route.tag],
    summary: route.about,
    ...(route.reply.type === "upgrade" ? { description: socketNote, "x-frames": frameShapes(known) } : {}),
    security: security(route),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(route.body === undefined ? {} : { requestBody: requestBody(route.body, known) }),
    responses: { ...replies(route.reply, known), ...refused(route) },
  };
}

function parameter(place: string, { name, schema, required }: Field): Schema {
  return {
    name,
    in: place,
    description: schema["description"] ?? parameterNotes[name],
    required: place === "path" || required,
    schema,
  };
}

function requestBody(body: RouteBody, known: Shapes): Schema {
  if (body.type === "text") {
    return {
      required: true,
      description: "Any text",
      content: { "text/plain": { schema: { type: "string" } } },
    };
  }
  return {
    required: body.optional !== true,
    content: { "application/json": { schema: known.input(body.schema) } },
  };
}

function replies(reply: RouteReply, known: Shapes): Schema {
  switch (reply.type) {
    case "empty":
      return { "204": { description: "Done" } };
    case "upgrade":
      return { "101": { description: "The socket is open" } };
    case "json": {
      const content = { "application/json": { schema: known.output(reply.schema) } };
      const statuses = [reply.status, ...(reply.also ?? [])].toSorted((a, b) => a - b);
      return Object.fromEntries(
        statuses.map((status) => [status, { description: successes[status] ?? "Done", content }]),
      );
    }
    case "lines":
      return {
        "200": {
          description: "One JSON object of this shape per line",
          content: { "application/x-ndjson": { schema: known.output(reply.schema) } },
        },
      };
    case "events":
      return {
        "200": {
          description: "A page; a stream for a caller that accepts `text/event-stream`",
          content: {
            "application/json": { schema: known.output(reply.schema) },
            "text/event-stream": {
              schema: { type: "string", description: streamNote },
              "x-events": {
                message: known.output(TaskEvent),
                live: known.output(LiveDelta),
                end: known.output(StreamEnd),
              },
            },
          },
        },
      };
  }
}

const successes: Readonly<Record<number, string>> = {
  200: "Done",
  201: "Created",
  202: "Accepted; it has not ended yet",
};

const streamNote =
  "Server-sent events. Those without a name are recorded events: `id` is the sequence number, the data is the event; a reader that returns with `Last-Event-ID` misses nothing and sees nothing twice. `live` is text while it is written, which is not recorded and has no id. `end` is the last one and says why the stream ends. Comments are heartbeats.";

const socketNote = `A WebSocket of JSON text frames. The service sends \`ask\`, \`hook_before\`, \`hook_after\` and \`spawn\`; the operator answers the first with \`answer\`, the second with \`hook_ack\` and the last with \`spawn_ack\`, each with the request's \`req_id\`. A request without an answer is sent again after a reconnect, with the same \`req_id\` and \`redelivered: true\`. A client that offers the subprotocol \`${operatorSubprotocol}\` also gets \`error\` frames. A newer socket of the same session takes over; the older one is closed with 4001.`;

const frameShapes = (known: Shapes): Schema => ({
  server: known.output(ServerFrame),
  client: known.input(ClientFrame),
});

const sessionRoles = { GET: "viewer", POST: "operator", DELETE: "admin" } as const;

function security({ access, method, reply }: RouteSpec): readonly Schema[] {
  switch (access) {
    case "public":
      return [];
    case "viewer":
    case "operator":
    case "admin":
      return [{ key: [access] }];
    case "session":
      // Of keys that are not the session's own, a viewer may read it, an admin may end it, and none may speak for it.
      if (reply.type === "upgrade") return [{ session: [] }, { ticket: [] }, { key: ["operator"] }];
      return [{ session: [] }, { key: [sessionRoles[method]] }];
    case "worker":
      return [{ worker: [] }];
  }
}

function refused({ access, body, params, query, headers, refuses = [] }: RouteSpec): Schema {
  const takes = params !== undefined || query !== undefined || headers !== undefined || body !== undefined;
  const statuses = new Set([
    400,
    403,
    ...(access === "public" ? [] : [401, 429]),
    ...(takes ? [422] : []),
    ...(body === undefined ? [] : [413, 415]),
    ...refuses,
  ]);
  const told = [...statuses].toSorted((a, b) => a - b).map((status) => [status, refusal(status)]);
  return { ...Object.fromEntries(told), default: refusal("other") };
}

const refusal = (name: number | "other"): Schema => ({ $ref: `#/components/responses/${name}` });
