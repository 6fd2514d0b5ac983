// The routes of the service itself and of its keys.

import { z } from "zod";
import { json, route, taking } from "./route-shape.ts";
import * as service from "./service.ts";

export const serviceRoutes = {
  health: route({
    method: "GET",
    path: "/healthz",
    tag: "service",
    about: "Does the process live?",
    access: "public",
    reply: json(service.Health),
  }),
  ready: route({
    method: "GET",
    path: "/readyz",
    tag: "service",
    about: "Can it take work? 503 while it is stopping or its store has failed",
    access: "public",
    reply: json(service.Readiness),
    refuses: [503],
  }),
  openapi: route({
    method: "GET",
    path: "/openapi.json",
    tag: "service",
    about: "This description",
    access: "public",
    reply: json(z.record(z.string(), z.unknown())),
  }),
  status: route({
    method: "GET",
    path: "/v1/status",
    tag: "service",
    about: "What the service is and what it is doing",
    access: "viewer",
    reply: json(service.ServiceStatus),
  }),
  pause: route({
    method: "POST",
    path: "/v1/pause",
    tag: "service",
    about: "Begin no new work: steps under way finish, everything else waits, over restarts too",
    access: "operator",
    reply: json(service.Paused),
  }),
  resume: route({
    method: "POST",
    path: "/v1/resume",
    tag: "service",
    about: "Go on after a pause",
    access: "operator",
    reply: json(service.Paused),
  }),
  shutdown: route({
    method: "POST",
    path: "/v1/shutdown",
    tag: "service",
    about: "Stop the service; what is under way goes on at the next start",
    access: "admin",
    body: { ...taking(service.Shutdown), optional: true },
    reply: { type: "json", status: 202, schema: z.strictObject({ stopping: z.literal(true) }) },
  }),
};

export const keyRoutes = {
  keys: route({
    method: "GET",
    path: "/v1/keys",
    tag: "keys",
    about: "The keys there are, revoked ones too; never the keys themselves",
    access: "admin",
    reply: json(service.KeyList),
  }),
  addKey: route({
    method: "POST",
    path: "/v1/keys",
    tag: "keys",
    about: "Make a key; it is shown this once",
    access: "admin",
    body: taking(service.NewKey),
    reply: { type: "json", status: 201, schema: service.MadeKey },
  }),
  revokeKey: route({
    method: "DELETE",
    path: "/v1/keys/{id}",
    tag: "keys",
    about: "Revoke a key, from now on",
    access: "admin",
    params: z.strictObject({ id: z.string().min(1).max(64) }),
    reply: { type: "empty", status: 204 },
    refuses: [404, 409],
  }),
};
