// Somebody who can write the database of a cluster, and does not have its key, adds a node: callers' keys are not sent there.
import assert from "node:assert/strict";
import { after, test } from "node:test";

import { ask, connectTo } from "../../src/store/postgres/database-connection.ts";
import { wireServer } from "../support/loopback-server.ts";
import { nodeProcesses } from "../support/node-processes.ts";
import { postgresPrograms } from "../support/postgres-server.ts";
import { newDatabase, sharedServer } from "../support/stores.ts";

const skip = postgresPrograms() === undefined ? "PostgreSQL is not installed" : false;
if (skip === false) after(() => sharedServer().stop());

/** What only the node that made it has. Whoever asks another node is asked for it there. */
const elsewhere = "/v1/tasks/tsk_0_elsewhere/workspace";

test(
  "a node that somebody wrote into the database without the cluster's key is sent no key of a caller",
  { skip },
  async (t) => {
    const database = newDatabase();
    const nodes = nodeProcesses(t, { database });
    const node = await nodes.start("one");
    const heard: { readonly path: string | undefined; readonly authorization: string | undefined }[] = [];
    const impostor = await wireServer(t, ({ url, headers }, response) => {
      heard.push({ path: url, authorization: headers.authorization });
      response.writeHead(404, { "content-type": "application/problem+json" }).end("{}");
    });
    const client = await connectTo(database);
    t.after(() => client.end());
    const [row] = await ask(client, "SELECT join_cluster('two', $1, '{}', 'none', 600000) AS incarnation", [
      impostor.url,
    ]);
    assert.ok(Number(row?.["incarnation"]) > 0);

    const headers = { authorization: `Bearer ${node.key}` };
    const answer = await fetch(`${node.url}${elsewhere}`, { headers });
    assert.ok(answer.status >= 400, String(answer.status));
    assert.ok(heard.length > 0, "the node in the database was asked who it is");
    assert.deepEqual(
      heard.filter(({ authorization }) => authorization !== undefined),
      [],
    );
    assert.match(await answer.text(), /may have it, and cannot be reached/);
  },
);
