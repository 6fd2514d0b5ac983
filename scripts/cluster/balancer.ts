// Passes connections on to whichever node answers, in turns. Requests and streams go through as they are.

import { connect, createServer, type Server, type Socket } from "node:net";
import { once } from "node:events";

export interface Balancer {
  readonly port: number;
  close(): Promise<void>;
}

/** A node that does not take a connection in this time is passed over. */
const connectMs = 1_000;
/** One that did not is asked again after this. */
const restMs = 2_000;

export async function startBalancer(port: number, nodes: () => readonly number[]): Promise<Balancer> {
  const restsUntil = new Map<number, number>();
  const open = new Set<Socket>();
  let turn = 0;
  const reach = async (): Promise<Socket | undefined> => {
    const all = nodes();
    turn += 1;
    const inTurn = all.map((_, at) => all[(turn + at) % all.length] ?? 0);
    const resting = (node: number): boolean => (restsUntil.get(node) ?? 0) > Date.now();
    for (const node of [...inTurn.filter((each) => !resting(each)), ...inTurn.filter(resting)]) {
      const socket = await reachOne(node);
      if (socket !== undefined) return socket;
      restsUntil.set(node, Date.now() + restMs);
    }
    return undefined;
  };
  const server: Server = createServer({ pauseOnConnect: true }, (caller) => {
    open.add(caller);
    caller.on("error", () => caller.destroy()).once("close", () => open.delete(caller));
    void reach().then((node) => {
      if (node === undefined || caller.destroyed) {
        caller.destroy();
        node?.destroy();
        return;
      }
      open.add(node);
      node.on("error", () => caller.destroy()).once("close", () => open.delete(node));
      caller.once("close", () => node.destroy());
      node.once("close", () => caller.end());
      caller.pipe(node);
      node.pipe(caller);
      caller.resume();
    });
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : port,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}

function reachOne(port: number): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1" });
    const timer = setTimeout(() => socket.destroy(), connectMs);
    socket.once("connect", () => {
      clearTimeout(timer);
      resolve(socket);
    });
    socket.on("error", () => undefined);
    socket.once("close", () => {
      clearTimeout(timer);
      resolve(undefined);
    });
  });
}
