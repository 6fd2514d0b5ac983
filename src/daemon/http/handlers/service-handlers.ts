// Answers about the service itself: does it live, is it ready, what is it doing; pausing and stopping it; its keys.

import type { HttpContext } from "../context.ts";
import type { Handlers } from "../handler.ts";

type Service = "health" | "ready" | "openapi" | "status" | "pause" | "resume" | "shutdown";

export function serviceHandlers(context: HttpContext): Pick<Handlers, Service> {
  const { state } = context;
  return {
    health: () => ({ value: { ok: true } }),
    ready() {
      const error = context.stopping() ?? context.notReady?.() ?? state.store.failure;
      return error === undefined ? { value: { ready: true } } : { refused: { error, status: 503 } };
    },
    openapi: () => ({ value: { ...Object(context.openapi()) } }),
    status: async () => ({ value: await state.client.status() }),
    async pause() {
      await state.client.pause();
      return { value: { paused: true } };
    },
    async resume() {
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
    keys: () => ({ value: { keys: keys.list() } }),
    addKey: async ({ body }) => ({ value: await keys.add(body) }),
    async revokeKey({ params }) {
      await keys.revoke(params.id);
      return { done: true };
    },
  };
}
