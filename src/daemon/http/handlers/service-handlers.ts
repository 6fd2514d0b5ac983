// Answers about the service itself: health, readiness, status; pauses and stops it; manages its keys.

import { toTuttiError } from "../../../protocol/error.ts";
import { mayChooseFolder } from "../chosen-folder.ts";
import type { HttpContext } from "../context.ts";
import type { Handlers } from "../handler.ts";
import { mustBePerson } from "./of-caller.ts";
import { listPage } from "../list-page.ts";

type ServiceRoute = "health" | "ready" | "openapi" | "status" | "nodes" | "setup" | "pause" | "resume" | "shutdown";

export function serviceHandlers(context: HttpContext): Pick<Handlers, ServiceRoute> {
  const { state, stopping } = context;
  let openapi: Buffer | undefined;
  return {
    health: () => ({ value: { ok: true } }),
    ready() {
      const cause = stopping.aborted
        ? toTuttiError(stopping.reason)
        : (context.notReady?.() ?? context.starting?.() ?? state.store.failure ?? state.engine.refusesWork);
      return cause === undefined ? { value: { ready: true } } : { error: { cause, status: 503 } };
    },
    openapi() {
      const value = { ...Object(context.openapi()) };
      openapi ??= Buffer.from(JSON.stringify(value));
      return { value, encoded: openapi };
    },
    status: async () => ({ value: await state.client.status() }),
    nodes: async () => ({ value: await state.client.nodes() }),
    async setup({ query, caller }) {
      mayChooseFolder(query.folder, caller);
      return { value: await state.client.setup(query.folder === undefined ? {} : { folder: query.folder }) };
    },
    async pause() {
      await state.client.pause();
      return { value: { paused: true } };
    },
    async resume({ caller }) {
      mustBePerson(caller, "let everything go on after a pause");
      await state.client.resume();
      return { value: { paused: false } };
    },
    shutdown: ({ body }) => ({
      value: { stopping: true },
      afterwards: () => context.onShutdown(body.grace_ms),
    }),
  };
}

export function keyHandlers({ state: { keys } }: HttpContext): Pick<Handlers, "keys" | "addKey" | "revokeKey"> {
  return {
    keys({ query }) {
      const { items, next } = listPage(keys.list(), query, ({ id }) => id);
      return { value: { keys: items, next } };
    },
    async addKey({ body, caller }) {
      const { person = false, may = [], folders = [] } = body;
      if (person || may.length + folders.length > 0) mustBePerson(caller, "make a key of a person or with grants");
      return { value: await keys.add(body, caller.kind === "key" && !caller.person ? caller.id : undefined) };
    },
    async revokeKey({ params, caller }) {
      const isPersons = keys.list().some(({ id, person }) => id === params.id && person === true);
      if (isPersons) mustBePerson(caller, "revoke the key of a person");
      await keys.revoke(params.id);
      return { done: true };
    },
  };
}
