// The way from one node to the database, which can be cut: what was sent arrives late, also when the sender has given up meanwhile.

import { connect, createServer, type Socket } from "node:net";

export interface DatabaseLink {
  readonly url: string;
  cut(): void;
  /** Everything that was held back arrives now, in its order. */
  heal(): void;
  close(): void;
}

/** `socketPath`: where the database listens. */
export async function openLink(socketPath: string): Promise<DatabaseLink> {
  let isCut = false;
  /** What has to be done when the link is whole again. */
  const held: (() => void)[] = [];
  const sockets = new Set<Socket>();
  const deliver = (work: () => void): void => {
    if (isCut) held.push(work);
    else work();
  };
  const carry = (from: Socket, to: Socket): void => {
    sockets.add(from);
    from.on("data", (chunk: Buffer) => deliver(() => void (to.writable && to.write(chunk))));
    // Half of a connection may end while what it has sent is still on its way.
    from.on("end", () => deliver(() => to.end()));
    from.on("error", () => deliver(() => to.destroy()));
    from.on("close", () => {
      sockets.delete(from);
      deliver(() => to.end());
    });
  };
  const server = createServer({ allowHalfOpen: true }, (near) => {
    const far = connect({ path: socketPath, allowHalfOpen: true });
    carry(near, far);
    carry(far, near);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the link has no port");
  return {
    url: `postgres://tutti@127.0.0.1:${address.port}/postgres`,
    cut: () => (isCut = true),
    heal() {
      isCut = false;
      for (const work of held.splice(0)) work();
    },
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
