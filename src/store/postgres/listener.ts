// Listens to what other nodes say through the database, on a connection that comes back by itself.

import type pg from "pg";

import { TuttiError } from "../../protocol/error.ts";
import { connectTo, type DatabaseAddress, endConnection } from "./database-connection.ts";

const reconnectMs = 200;

export interface Listener {
  /** The connection that listens; it also takes short statements. */
  client(): Promise<pg.Client>;
  close(): Promise<void>;
}

/**
 * `heard` is called with the name of the channel, without its schema. After the connection was lost it is called for every
 * channel: something may have been said meanwhile.
 */
export function listenTo(
  address: DatabaseAddress,
  channels: readonly string[],
  heard: (channel: string, payload: string) => void,
): Listener {
  let current: Promise<pg.Client> | undefined;
  let retry: NodeJS.Timeout | undefined;
  let closed = false;
  const connected = async (): Promise<pg.Client> => {
    const client = await connectTo(address);
    const lost = (): void => {
      if (closed) return;
      current = undefined;
      retry = setTimeout(reconnect, reconnectMs);
      retry.unref();
    };
    client.once("end", lost);
    client.on("notification", ({ channel, payload = "" }) => {
      const name = channels.find((each) => channel === `tutti_${each}_${address.schema}`);
      if (name !== undefined) heard(name, payload);
    });
    try {
      for (const channel of channels) await client.query(`LISTEN tutti_${channel}_${address.schema}`);
    } catch (thrown) {
      client.end().catch(() => undefined);
      throw thrown;
    }
    return client;
  };
  const client = async (): Promise<pg.Client> => {
    if (closed) throw new TuttiError("stopped", "this node is being stopped or joins anew");
    if (current === undefined) {
      const made = (current = connected());
      made.catch(() => {
        if (current === made) current = undefined;
      });
    }
    return current;
  };
  const reconnect = (): void => {
    if (closed) return;
    client().then(
      () => {
        for (const channel of channels) heard(channel, "");
      },
      () => {
        if (closed) return;
        retry = setTimeout(reconnect, reconnectMs);
        retry.unref();
      },
    );
  };
  reconnect();
  return {
    client,
    async close() {
      closed = true;
      clearTimeout(retry);
      const open = await current?.catch(() => undefined);
      await endConnection(open);
    },
  };
}
