// The routes of the service itself and of its keys.

import { z } from "zod";
import { FolderQuery } from "./catalog.ts";
import { ListQuery } from "./list-query.ts";
import { NodeList } from "./node-shapes.ts";
import { jsonBody, jsonReply, route } from "./route-shape.ts";
import * as service from "./service.ts";

export const serviceRoutes = {
  health: route({
    method: "GET",
    path: "/healthz",
    tag: "service",
    about: "Whether the process is alive",
    access: "public",
    reply: jsonReply(service.Health),
  }),
  ready: route({
    method: "GET",
    path: "/readyz",
    tag: "service",
    about: "Whether it can take work; 503 while it is stopping or its store has failed",
    access: "public",
    reply: jsonReply(service.Readiness),
    refuses: [503],
  }),
  openapi: route({
    method: "GET",
    path: "/openapi.json",
    tag: "service",
    about: "This description",
    access: "public",
    reply: jsonReply(z.record(z.string(), z.unknown())),
  }),
  status: route({
    method: "GET",
    path: "/v1/status",
    tag: "service",
    about: "What the service is and what it is doing",
    access: "viewer",
    reply: jsonReply(service.ServiceStatus),
  }),
  setup: route({
    method: "GET",
    path: "/v1/setup",
    tag: "service",
    about: "What the process has to work with: version, sandbox, default model, and for which providers it has a key",
    access: "viewer",
    query: FolderQuery,
    reply: jsonReply(service.ServiceSetup),
    refuses: [404],
  }),
  nodes: route({
    method: "GET",
    path: "/v1/nodes",
    tag: "service",
    about:
      "The nodes that work on the same records: which live, what each runs and how far it is behind; without a database, the one service",
    access: "viewer",
    reply: jsonReply(NodeList),
  }),
  pause: route({
    method: "POST",
    path: "/v1/pause",
    tag: "service",
    about: "Begin no new work: running steps finish, everything else waits, also after a restart",
    access: "operator",
    reply: jsonReply(service.Paused),
  }),
  resume: route({
    method: "POST",
    path: "/v1/resume",
    tag: "service",
    about: "Continue after a pause; only a person may",
    access: "operator",
    reply: jsonReply(service.Paused),
  }),
  shutdown: route({
    method: "POST",
    path: "/v1/shutdown",
    tag: "service",
    about: "Stop the service; unfinished tasks continue at the next start",
    access: "admin",
    body: { ...jsonBody(service.Shutdown), optional: true },
    reply: { type: "json", status: 202, schema: z.strictObject({ stopping: z.literal(true) }) },
  }),
};

export const keyRoutes = {
  keys: route({
    method: "GET",
    path: "/v1/keys",
    tag: "keys",
    about: "All keys, also revoked ones, without the secrets themselves, in pages",
    access: "admin",
    query: ListQuery,
    reply: jsonReply(service.KeyList),
  }),
  addKey: route({
    method: "POST",
    path: "/v1/keys",
    tag: "keys",
    about: "Create a key; it is shown only this once",
    access: "admin",
    body: jsonBody(service.NewKey),
    reply: { type: "json", status: 201, schema: service.MadeKey },
  }),
  revokeKey: route({
    method: "DELETE",
    path: "/v1/keys/{id}",
    tag: "keys",
    about: "Revoke a key",
    access: "admin",
    params: z.strictObject({ id: z.string().min(1).max(64) }),
    reply: { type: "empty", status: 204 },
    refuses: [404, 409],
  }),
};
