// A connection that asks the daemon for something and never reads a byte of the answer.

import { connect, type Socket } from "node:net";

interface Unread {
  readonly path: string;
  readonly key: string;
  readonly accept?: string;
}

export function neverReads(url: string | URL, { path, key, accept = "*/*" }: Unread): Socket {
  const { hostname, port, host } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.on("error", () => undefined);
  socket.pause();
  socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${key}\r\nAccept: ${accept}\r\n\r\n`);
  return socket;
}
