// A minimal HTTP client for benchmarks: sequential requests on connections that stay open.
import { connect, type Socket } from "node:net";

/** One connection; each call sends the request and resolves with the reply's status and body. */
export interface RawConnection {
  send(request: string): Promise<{ readonly status: number; readonly head: string; readonly body: string }>;
  close(): void;
}

export async function openConnection(port: number): Promise<RawConnection> {
  const socket = connect({ host: "127.0.0.1", port, noDelay: true });
  await new Promise<void>((resolve, reject) => socket.once("connect", resolve).once("error", reject));
  return over(socket);
}

function over(socket: Socket): RawConnection {
  let held = "";
  let waiting: PromiseWithResolvers<{ status: number; head: string; body: string }> | undefined;
  socket.setEncoding("latin1");
  socket.on("data", (chunk: string) => {
    held += chunk;
    const end = held.indexOf("\r\n\r\n");
    if (end < 0) return;
    const head = held.slice(0, end);
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1]);
    if (held.length < end + 4 + length) return;
    const reply = { status: Number(head.slice(9, 12)), head, body: held.slice(end + 4, end + 4 + length) };
    held = held.slice(end + 4 + length);
    waiting?.resolve(reply);
  });
  socket.on("error", (error) => waiting?.reject(error));
  socket.on("close", () => waiting?.reject(new Error("the connection was closed")));
  return {
    send(request) {
      waiting = Promise.withResolvers();
      socket.write(request);
      return waiting.promise;
    },
    close: () => socket.destroy(),
  };
}
