// A small HTTP server on the loopback for tests of clients; closed when the test ends.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { TestContext } from "node:test";

export interface WireServer {
  readonly url: string;
  readonly server: Server;
}

export async function wireServer(
  t: Pick<TestContext, "after">,
  handle: (request: IncomingMessage, response: ServerResponse) => void | Promise<void>,
): Promise<WireServer> {
  const server = createServer((request, response) => {
    Promise.resolve(handle(request, response)).catch((thrown: unknown) => {
      response.writeHead(500).end(String(thrown));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // Upgraded ones too, which the server itself forgets.
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  t.after(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, server };
}

export async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

export function sendJson(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
}

export function sendProblem(
  response: ServerResponse,
  problem: { readonly status: number; readonly code: string; readonly detail: string } & Record<string, unknown>,
): void {
  const body = { type: "about:blank", title: problem.code, retry: "never", ...problem };
  response.writeHead(problem.status, { "content-type": "application/problem+json" }).end(JSON.stringify(body));
}
