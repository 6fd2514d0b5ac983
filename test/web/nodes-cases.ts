// The nodes on the page Fleet, in a real Chromium: a daemon alone, and several on one PostgreSQL.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, test } from "node:test";

import type { Page } from "playwright-core";

import { nodeProcesses } from "../support/node-processes.ts";
import { postgresPrograms } from "../support/postgres-server.ts";
import { sharedServer } from "../support/stores.ts";
import { slowInvocation } from "../support/up-process.ts";
import { until } from "../support/wait-until.ts";

export interface NodesScene {
  /** The daemon of the other tests, which has no database. */
  readonly page: Page;
  readonly url: string;
  /** A page that is signed in there with this key. */
  readonly visitor: (url: string, key: string) => Promise<Page>;
}

export function nodesCases(scene: () => NodesScene): void {
  const skip = postgresPrograms() === undefined ? "PostgreSQL is not installed" : false;
  after(() => {
    if (skip === false) sharedServer().stop();
  });

  test("a daemon alone is listed as the one node that it is, with the way to have more", async () => {
    const { page, url } = scene();
    await page.goto(`${url}/fleet`);
    const nodes = page.getByRole("region", { name: "Nodes", exact: true });
    const row = nodes.getByRole("row").filter({ hasText: url });
    for (const part of ["answers this page", "Alive", "none needed", "up to date"]) await row.getByText(part).waitFor();
    await nodes.getByText("This daemon works alone").waitFor();
    await nodes.getByText("tutti up --database").waitFor();
    assert.equal(await nodes.getByRole("row").count(), 2, "the head of the table and one node");
    assert.equal(await page.getByRole("region", { name: "Cannot go on here" }).count(), 0);
  });

  test(
    "nodes on one database are listed as they join and are lost, with the tasks that none can go on with and why",
    { skip },
    async (t) => {
      const started = nodeProcesses(t, { leaseSeconds: 3 });
      const a = await started.start("a");
      const page = await scene().visitor(`${a.url}/fleet`, a.key);
      t.after(() => page.context().close());
      const nodes = page.getByRole("region", { name: "Nodes", exact: true });
      const row = (name: string) => nodes.getByRole("row").filter({ has: page.getByText(name, { exact: true }) });
      await nodes.getByText("This is the only node of its database.").waitFor();
      const b = await started.start("b", "--label", "gpu");
      for (const [name, url] of [
        ["a", a.url],
        ["b", b.url],
      ] as const) {
        for (const part of ["Alive", url]) await row(name).getByText(part).waitFor();
        await row(name)
          .getByText(/s left$/)
          .waitFor();
      }
      assert.equal(await nodes.getByText("answers this page").count(), 1);

      const slow: object = JSON.parse(readFileSync(slowInvocation(b.folder, 600_000), "utf8"));
      const { task } = await b.tutti.invoke(JSON.stringify({ ...slow, labels: ["gpu"] }), { folder: b.folder });
      await until(async () => (await b.tutti.tree(task)).some(({ status }) => status === "running"), "it runs");
      await row("b").getByRole("cell", { name: "1", exact: true }).waitFor();
      await b.kill();
      for (const part of ["Lost", "ended"]) await row("b").getByText(part).waitFor();
      await nodes.getByText("1 unfinished tree without a node").waitFor();
      const parked = page.getByRole("region", { name: "Cannot go on here" });
      await parked.getByText(/^no node that is up has .*gpu/).waitFor();
      assert.equal(await parked.getByRole("link").getAttribute("href"), `/tasks/${task}`);
    },
  );
}
