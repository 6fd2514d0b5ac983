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
otherwise; fields that are not described are refused, except inside an invocation, where they are warned about. What is
refused is told as a problem document (RFC 9457) with a \`code\`, a \`detail\` that says what to do, and \`retry\`: \`never\`,
\`safe\` or \`unknown\` (it may have happened: look first). Times are milliseconds since 1970.`;

const tags = [
  { name: "service", description: "The service itself" },
  { name: "invocations", description: "Starting work" },
  { name: "tasks", description: "Work, done or under way" },
  { name: "events", description: "What happened, in order, as pages or as a stream" },
  { name: "asks", description: "Questions and results that tasks wait for" },
  { name: "catalog", description: "Agents, runners, models and the routing policy" },
  { name: "operators", description: "People and programs that are asked, gate work, and take it over" },
  { name: "workers", description: "Processes that do an operator's task" },
  { name: "keys", description: "Who may call" },
];

const securitySchemes = {
  key: {
    type: "http",
    scheme: "bearer",
    bearerFormat: "tk_…",
    description: "A key. Its role is viewer, operator or admin, each of which may do what those before it may.",
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

/** Said of a status whatever the route. */
const refusals: Readonly<Record<number, string>> = {
  400: "The request cannot be understood",
  401: "No bearer, or not one that is known",
  403: "Not with this bearer, or not from this host or origin",
  404: "There is no such thing",
  409: "It is in the way of what is there already, or was decided before",
  410: "It is over",
  413: "The body is too large",
  415: "The body is not of the type the route takes",
  422: "A parameter or the body does not have the shape it must have",
  426: "This is a WebSocket: ask for the upgrade",
  429: "Too many failed attempts: wait as long as `Retry-After` says",
  503: "The service is stopping, or cannot work now",
};

let made: Schema | undefined;

/** Always the same; made when it is first asked for. */
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
  return known.settle({
    openapi: "3.1.1",
    info: {
      title: "Tutti",
      version: apiVersion,
      description: about.replaceAll("\n", " "),
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "http://127.0.0.1:7878", description: "Where it listens when nothing else is said" }],
    tags,
    paths,
    components: {
      responses: Object.fromEntries(
        Object.entries({ ...refusals, other: "Any other refusal" }).map(([status, description]) => [
          status,
          { description, content: { [problemType]: { schema: known.given(Problem) } } },
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
      description: "Any text, taken as it is",
      content: { "text/plain": { schema: { type: "string" } } },
    };
  }
  return {
    required: body.optional !== true,
    content: { "application/json": { schema: known.taken(body.schema) } },
  };
}

function replies(reply: RouteReply, known: Shapes): Schema {
  switch (reply.type) {
    case "empty":
      return { "204": { description: "Done" } };
    case "upgrade":
      return { "101": { description: "The socket is open" } };
    case "json": {
      const content = { "application/json": { schema: known.given(reply.schema) } };
      const statuses = [reply.status, ...(reply.also ?? [])].toSorted((a, b) => a - b);
      return Object.fromEntries(
        statuses.map((status) => [status, { description: successes[status] ?? "Done", content }]),
      );
    }
    case "lines":
      return {
        "200": {
          description: "One JSON object of this shape per line",
          content: { "application/x-ndjson": { schema: known.given(reply.schema) } },
        },
      };
    case "events":
      return {
        "200": {
          description: "A page; a stream for a caller that accepts `text/event-stream`",
          content: {
            "application/json": { schema: known.given(reply.schema) },
            "text/event-stream": {
              schema: { type: "string", description: streamNote },
              "x-events": {
                message: known.given(TaskEvent),
                live: known.given(LiveDelta),
                end: known.given(StreamEnd),
              },
            },
          },
        },
      };
  }
}

const successes: Readonly<Record<number, string>> = {
  200: "Done",
  201: "Made",
  202: "Taken; it is not over yet",
};

const streamNote =
  "Server-sent events. One without a name is kept: its `id` is the sequence number, its data the event; a reader that comes back with `Last-Event-ID` misses nothing and sees nothing twice. `live` is text on its way, which is not kept and has no id. `end` is the last one and says why. Comments are heartbeats.";

const socketNote = `A WebSocket of JSON text frames. The service sends \`ask\`, \`hook_before\`, \`hook_after\` and \`spawn\`; the operator answers the first with \`answer\`, the second with \`hook_ack\` and the last with \`spawn_ack\`, each with the request's \`req_id\`. What was not answered comes again after a reconnect with the same \`req_id\` and \`redelivered: true\`. A client that offers the subprotocol \`${operatorSubprotocol}\` also gets \`error\` frames. A newer socket of the same session takes over; the older one is closed with 4001.`;

const frameShapes = (known: Shapes): Schema => ({ server: known.given(ServerFrame), client: known.taken(ClientFrame) });

function security({ access, method, reply }: RouteSpec): readonly Schema[] {
  switch (access) {
    case "public":
      return [];
    case "viewer":
    case "operator":
    case "admin":
      return [{ key: [access] }];
    case "session":
      if (reply.type === "upgrade") return [{ session: [] }, { ticket: [] }, { key: ["admin"] }];
      // Whoever may look may look at it.
      return [{ session: [] }, { key: [method === "GET" ? "viewer" : "admin"] }];
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
