import assert from "node:assert/strict";
import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { test } from "node:test";

import { detectServers } from "./detect-servers.ts";

test("a server counts when it lists models; one that answers something else, nothing or never does not", async (t) => {
  const answers: Record<string, string | undefined> = {
    good: '{"data":[{"id":"nomic-embed"},{"id":"qwen3:8b"}]}',
    page: "<html>",
    vectors: '{"data":[{"id":"embed"}]}',
    silent: undefined,
  };
  const servers = await Promise.all(
    Object.entries(answers).map(async ([name, answer]) => {
      const server = createServer((_, response) => (answer === undefined ? undefined : response.end(answer)));
      server.listen(0, "127.0.0.1");
      await once(server, "listening");
      t.after(() => {
        server.closeAllConnections();
        server.close();
      });
      const { port } = server.address() as AddressInfo;
      return { name, port };
    }),
  );
  const found = await detectServers({ timeoutMs: 1_000, signal: new AbortController().signal }, servers);
  assert.deepEqual(
    found.map(({ name, models }) => [name, models]),
    [["good", ["qwen3:8b"]]],
  );
});
