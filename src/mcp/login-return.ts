// Where the browser of a person comes back to after a login: a page that this machine alone can reach.

import { createServer } from "node:http";

export interface LoginReturn {
  readonly url: string;
  /** What the browser brought along. */
  readonly returned: Promise<URLSearchParams>;
  readonly close: () => void;
}

export async function listenForReturn(signal: AbortSignal): Promise<LoginReturn> {
  const { promise, resolve, reject } = Promise.withResolvers<URLSearchParams>();
  promise.catch(() => undefined);
  const onAbort = (): void => reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://127.0.0.1");
    if (request.method !== "GET" || url.pathname !== "/callback") {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { "content-type": "text/plain; charset=utf-8", connection: "close" });
    response.end("You can close this page and go back to the terminal.\n");
    resolve(url.searchParams);
  });
  await new Promise<void>((done, failed) => {
    server.once("error", failed);
    server.listen(0, "127.0.0.1", done);
  });
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}/callback`,
    returned: promise,
    close() {
      signal.removeEventListener("abort", onAbort);
      server.closeAllConnections();
      server.close();
    },
  };
}
