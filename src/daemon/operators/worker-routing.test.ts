import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";

import type { TreeOwner } from "../../cluster/tree-owner.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { WorkerEvents } from "../../protocol/operator/worker.ts";
import { codeOf } from "../../../test/support/engine-kit.ts";
import { connected, joined, openKit, operatorTask } from "../../../test/support/operator-kit.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { within } from "../../../test/support/wait-until.ts";
import { routedWorkers } from "./worker-routing.ts";
import type { WorkerService } from "./worker-service.ts";

interface Routed {
  readonly workers: WorkerService;
  readonly handle: string;
}

/** Workers at a node; each look for the owner of their task gives the next of these. */
async function routed(t: TestContext, looks: readonly (TreeOwner | TuttiError)[]): Promise<Routed> {
  const kit = await openKit(t, tempFolder(t));
  const peer = await connected(kit, (await joined(kit, "builder")).sid);
  await kit.engine.start(operatorTask({ operator: "builder" }));
  const { worker_handle: handle = "" } = await peer.next("spawn");
  let looked = 0;
  const workers = routedWorkers(kit.workers, {
    records: kit.records,
    signingKey: kit.signingKey,
    salt: kit.store.salt,
    async ownerOf() {
      const found = looks[looked] ?? assert.fail("the owner was looked for once more");
      looked += 1;
      if (found instanceof TuttiError) throw found;
      return found;
    },
    fetchFrom: () => () => Promise.reject(new Error("nobody is there")),
  });
  return { workers, handle };
}

const posted = (): WorkerEvents => ({ events: [{ type: "progress", text: "half" }] });

for (const [why, code] of [
  ["is being stopped", "stopped"],
  ["was declared dead", "locked"],
] as const) {
  test(`a worker's call ends at once when the node that has it ${why}`, async (t) => {
    const { workers, handle } = await routed(t, [new TuttiError(code, `this node ${why}`)]);
    assert.equal(await codeOf(within(() => workers.events(handle, posted()), "an answer")), code);
  });
}

test("a worker's call waits while the database is away, and looks again when the owner is gone", async (t) => {
  const gone = { incarnation: 2, url: "http://127.0.0.1:9", certificate: null };
  const away = new TuttiError("unreachable", "the database cannot be reached");
  const { workers, handle } = await routed(t, [away, gone, "here", "here"]);
  const reply = await within(() => workers.events(handle, posted()), "an answer");
  assert.equal(reply.ok, true);
});
