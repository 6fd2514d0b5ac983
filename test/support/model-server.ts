// A model provider on the loopback that speaks the real provider APIs, streams, counts its callers, and fails on demand.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";

import { framesOf, type ScriptedReply, type Wire } from "./model-server-wires.ts";

export type Turn =
  | { readonly reply: ScriptedReply; readonly frameMs?: number }
  /** Only the first bytes of the reply; then the stream ends as if all were well, or the connection breaks. */
  | { readonly reply: ScriptedReply; readonly bytes: number; readonly end: "clean" | "broken" }
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: unknown }
  /** Text in place of a stream of events. */
  | { readonly text: string }
  /** Takes the request and says nothing. */
  | { readonly silent: true }
  /** Closes the connection without an answer. */
  | { readonly hangUp: true };

export interface Received {
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Record<string, unknown>;
}

export interface ModelServer {
  readonly origin: string;
  readonly received: readonly Received[];
  /** The most requests that were open at once. */
  readonly mostOpen: number;
}

export type Turns = readonly Turn[] | ((request: Received, index: number, open: number) => Turn);

/** Turns are taken in order, the last one again and again; a function decides for itself. */
export async function modelServer(context: TestContext, wire: Wire, turns: Turns): Promise<ModelServer> {
  const received: Received[] = [];
  let open = 0;
  const state = { mostOpen: 0 };
  const server = createServer((request, response) => {
    open += 1;
    state.mostOpen = Math.max(state.mostOpen, open);
    response.once("close", () => (open -= 1));
    void serve(request, response);
  });
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const text = await bodyOf(request);
    const { url = "", headers } = request;
    const seen = { url, headers, body: text === "" ? {} : (JSON.parse(text) as Record<string, unknown>) };
    const index = received.push(seen) - 1;
    const turn = typeof turns === "function" ? turns(seen, index, open) : (turns[index] ?? turns.at(-1));
    if (turn !== undefined) await play(wire, turn, response);
  };
  await listen(server);
  context.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    received,
    get mostOpen() {
      return state.mostOpen;
    },
  };
}

async function play(wire: Wire, turn: Turn, response: ServerResponse): Promise<void> {
  if ("silent" in turn) return;
  if ("hangUp" in turn) {
    response.destroy();
    return;
  }
  if ("status" in turn) {
    response.writeHead(turn.status, { "content-type": "application/json", ...turn.headers });
    response.end(JSON.stringify(turn.body ?? errorBody(wire, turn.status)));
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  if ("text" in turn) {
    response.end(turn.text);
    return;
  }
  const frames = framesOf(wire, turn.reply);
  if ("bytes" in turn) {
    const bytes = Buffer.from(frames.join("")).subarray(0, turn.bytes);
    if (turn.end === "clean") response.end(bytes);
    else if (bytes.length === 0) response.destroy();
    else response.write(bytes, () => response.destroy());
    return;
  }
  for (const frame of frames) {
    if (response.destroyed) return;
    response.write(frame);
    if (turn.frameMs !== undefined) await new Promise((resolve) => setTimeout(resolve, turn.frameMs));
  }
  response.end();
}

function errorBody(wire: Wire, status: number): object {
  const message = `status ${status}`;
  if (wire === "anthropic") return { type: "error", error: { type: "api_error", message } };
  if (wire === "google") return { error: { code: status, message, status: "UNAVAILABLE" } };
  return { error: { message, type: "server_error", param: null, code: null } };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

function listen(server: Server): Promise<void> {
  return new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
}
