import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import { testRepository } from "../../../test/support/git-kit.ts";
import { ledgerIgnored, savedIn, sessionPlace, type SessionPlace, skip } from "../../../test/support/session-place.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { trimSetupCache } from "../../workspace/index.ts";

const random = "mkdir -p made && od -An -N8 -tx1 /dev/urandom > made/id";

interface Cached extends SessionPlace {
  readonly cache: string;
  /** Runs a session, which looks at what setup made and then does what is said. */
  readonly session: (
    shell: string,
    workspace?: object,
  ) => Promise<{ readonly task: string; readonly status: string; readonly seen: string }>;
}

async function cached(t: TestContext, shell = random): Promise<Cached> {
  const cache = join(tempFolder(t), "setup-cache");
  const files = { "lock.json": "1\n", ".gitignore": `${ledgerIgnored[".gitignore"]}made\n` };
  const place = await sessionPlace(t, {
    repository: testRepository(t, files),
    workspaces: {
      setup: [{ command: ["/bin/sh", "-c", shell], network: false, lock: ["lock.json"], makes: ["made"] }],
      setupCache: { folder: cache, maxBytes: 2 ** 30, maxAgeMs: 86_400_000 },
    },
  });
  const { world, repository, task } = place;
  return {
    ...place,
    cache,
    async session(does, workspace = {}) {
      const id = await world.start([{ shell: `cp made/id seen.txt; ${does}` }, { say: "done" }], {
        ...task,
        runner: { kind: "acp", config: { profile: "scripted", workspace } },
      });
      const { status } = await world.engine.result(id);
      const branch = (await savedIn(world)).at(-1)?.branch ?? "";
      return { task: id, status, seen: status === "completed" ? repository.git("show", `${branch}:seen.txt`) : "" };
    },
  };
}

test(
  "what setup made is copied while the lock files are the same, and no session can change the copy",
  { skip },
  async (t) => {
    const { repository, session, cache } = await cached(t);
    const first = await session("echo poisoned > made/id; echo 2 > lock.json");
    const second = await session("true");
    assert.match(first.seen, /^(?:[0-9a-f]{2} ?){8}$/);
    assert.equal(second.seen, first.seen);

    // A workspace that begins with the work of a session has the other lock file. What is made there is not kept.
    const [third, fourth] = [
      await session("true", { after: [first.task] }),
      await session("true", { after: [first.task] }),
    ];
    assert.equal(new Set([first.seen, third.seen, fourth.seen]).size, 3);
    assert.equal(readdirSync(cache).length, 1);

    repository.commit({ "lock.json": "3\n" });
    assert.notEqual((await session("true")).seen, first.seen);
    assert.equal(readdirSync(cache).length, 2);
    await trimSetupCache({ folder: cache, maxBytes: 0, maxAgeMs: 86_400_000 }, Date.now());
    assert.deepEqual(readdirSync(cache), []);
  },
);

test("the result of setup that failed, or that leads out of the workspace, is not kept", { skip }, async (t) => {
  const failing = await cached(t, `${random}; exit 3`);
  assert.equal((await failing.session("true")).status, "failed");
  assert.equal(existsSync(failing.cache), false);
  const linked = await cached(t, `${random}; ln -s /etc made/etc`);
  assert.equal((await linked.session("true")).status, "completed");
  assert.equal(existsSync(linked.cache), false);
});

test("setup has the network only where the person allowed it", { skip }, async (t) => {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  const address = server.address();
  assert.ok(address !== null && typeof address === "object");
  const reach = `if (exec 3<>/dev/tcp/127.0.0.1/${address.port}) 2>/dev/null; then echo yes; else echo no; fi > reached.txt`;
  for (const network of [false, true]) {
    const { world, repository, task } = await sessionPlace(t, {
      workspaces: { setup: [{ command: ["/bin/bash", "-c", reach], network }] },
    });
    assert.equal((await world.run([{ say: "done" }], task)).status, "completed");
    const branch = (await savedIn(world)).at(-1)?.branch ?? "";
    assert.equal(repository.git("show", `${branch}:reached.txt`), network ? "yes" : "no");
    assert.equal(connections, network ? 1 : 0);
  }
});
