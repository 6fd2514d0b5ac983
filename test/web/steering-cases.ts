// What a person does with work from the page, in a real Chromium: merge it, do it again, tell the manager, and go on after it.
import assert from "node:assert/strict";
import { test } from "node:test";

import { skipUnconfined as skip } from "../support/assignment-kit.ts";
import { delegate } from "../support/manager-kit.ts";
import { until } from "../support/wait-until.ts";
import type { WebScene } from "./task-page-cases.ts";

/** `scene`: with the goals that the tests before these left, one verified and one whose review was not heard. */
export function steeringCases(scene: () => WebScene): void {
  test(
    "verified work is merged from the page when its checkout may change, and what nothing verified is not",
    { skip },
    async () => {
      const { page, url, tutti, repository } = scene();
      const workOf = async (text: string): Promise<string> => {
        const goal = (await tutti.goals()).goals.find((each) => each.text === text);
        return (await tutti.tree(goal?.task ?? ""))[1]?.id ?? "";
      };
      const head = repository.git("rev-parse", "main");
      await page.goto(`${url}/tasks/${await workOf("The total is 4.")}?view=changes`);
      await page.getByRole("button", { name: "Merge", exact: true }).click();
      const dialog = page.getByRole("dialog", { name: "Merge this work" });
      await dialog.getByRole("button", { name: "Merge", exact: true }).click();
      await dialog.getByRole("alert").getByText("is checked out at").waitFor();
      assert.equal(repository.git("rev-parse", "main"), head);
      await dialog.getByLabel("The branch may be checked out").check();
      await dialog.getByRole("button", { name: "Merge", exact: true }).click();
      await dialog.waitFor({ state: "detached" });
      await page.getByRole("status").getByText("Merged into main.").waitFor();
      assert.equal(repository.git("show", "main:total.txt").trim(), "4");
      assert.equal(repository.git("status", "--porcelain"), "");

      await page.goto(`${url}/tasks/${await workOf("Have a license.")}?view=changes`);
      await page.getByRole("button", { name: "Merge", exact: true }).click();
      await dialog.getByLabel("The branch may be checked out").check();
      await dialog.getByRole("button", { name: "Merge", exact: true }).click();
      await dialog.getByRole("alert").getByText("verified").waitFor();
      assert.throws(() => repository.git("show", "main:LICENSE.txt"));
      await page.keyboard.press("Escape");
    },
  );

  test(
    "a task under way is begun again as its next attempt, and one that is over as a new task",
    { skip },
    async () => {
      const { page, url, tutti, repository } = scene();
      const target = {
        agent: { type: "named", agent_id: "counter" },
        message: { role: "user", parts: [{ part_type: "text", data: "Count." }] },
      };
      const agents = { counter: { instructions: "You count." } };
      const script = {
        rules: [{ turn: 0, ask: { question: "From one?", choices: ["yes", "no"] } }, { final: "Counted." }],
      };
      const file = JSON.stringify({ invocation: { targets: [target] }, agents, script });
      const { task: root } = await tutti.invoke(file, { folder: repository.folder });
      const first = await until(async () => (await tutti.asks(root))[0], "it asks");
      const { task } = first;
      await page.goto(`${url}/tasks/${task}`);
      const again = async (answer: "Keep it" | "Do it again"): Promise<void> => {
        await page.getByRole("button", { name: "Retry" }).click();
        const dialog = page.getByRole("dialog", { name: "Do this task again?" });
        await dialog.getByRole("button", { name: answer }).click();
        await dialog.waitFor({ state: "detached" });
      };
      await again("Keep it");
      assert.equal((await tutti.task(task)).attempt, 1);
      await again("Do it again");
      await page.getByRole("status").getByText("It is done again.").waitFor();
      await until(async () => (await tutti.task(task)).attempt === 2, "the next attempt");
      // The question of the attempt that was given up is gone, and the new one asks its own.
      const ask = await until(async () => (await tutti.asks(root)).find(({ id }) => id !== first.id), "it asks anew");
      assert.equal((await tutti.asks(root)).length, 1);
      await page.locator(`[data-ask="${ask.id}"]`).getByRole("button", { name: "yes" }).click();
      await page.getByText("Completed").first().waitFor();
      assert.deepEqual(await tutti.asks(root), []);
      assert.equal(
        await page.getByRole("button", { name: "Retry" }).count(),
        0,
        "its result went to the task above it",
      );

      await tutti.settled(root);
      await page.goto(`${url}/tasks/${root}`);
      await again("Do it again");
      await page.waitForURL((now) => now.pathname.startsWith("/tasks/tsk_") && !now.pathname.endsWith(root));
      const made = new URL(page.url()).pathname.replace("/tasks/", "");
      await until(async () => (await tutti.asks(made))[0], "the new one asks, too");
      assert.equal((await tutti.task(root)).status, "completed");
      await tutti.cancel(made, "seen");
    },
  );

  test(
    "the manager is told something while a goal is under way, and a goal that is over is followed by another",
    { skip },
    async () => {
      const { page, url, tutti, repository } = scene();
      const tasks = [{ id: "slow", prompt: "Take your time.", kind: "code_change", workdir: "." }];
      const rules = [
        { agent: "manager", raw: delegate(tasks) },
        { agent: "worker", turn: 0, delay_ms: 600_000, final: "Done." },
      ];
      const started = await tutti.startGoal({ text: "Be slow.", folder: repository.folder, script: { rules } });
      const worker = await until(
        async () =>
          (await tutti.tree(started.task)).find(({ agent, status }) => agent === "worker" && status === "running"),
        "it works",
      );
      await page.goto(`${url}/goals/${started.goal}`);
      const box = page.getByLabel("Message to the manager");
      await box.fill("stop slow");
      await page.getByRole("button", { name: "Send", exact: true }).click();
      await page.getByRole("status").getByText("The manager gets it at its next turn.").waitFor();
      assert.equal(await box.inputValue(), "");
      await until(async () => (await tutti.task(worker.id)).status === "canceled", "the manager ended it");

      await tutti.cancel(started.task, "seen");
      // The goal ends before the eyes of the person, and the box is for what comes next.
      const next = page.getByLabel("A new goal that follows this one");
      await next.fill("Be quick.");
      // The request is the page's own; only the models are played.
      await page.route("**/v1/goals", async (route) => {
        if (route.request().method() !== "POST") return route.continue();
        const body: object = JSON.parse(route.request().postData() ?? "{}");
        await route.continue({ postData: JSON.stringify({ ...body, script: { rules } }) });
      });
      await page.getByRole("button", { name: "Start follow-up" }).click();
      await page.waitForURL((now) => now.pathname.startsWith("/goals/") && !now.pathname.endsWith(started.goal));
      await page
        .getByRole("article", { name: /Approval/ })
        .getByText("Take your time.")
        .waitFor();
      const followed = (await tutti.goals()).goals[0];
      assert.equal(new URL(page.url()).pathname, `/goals/${followed?.goal ?? ""}`);
      assert.equal(followed?.text, `Be quick.\n\nThis follows the goal ${started.goal}: Be slow.`);
      assert.deepEqual((await tutti.goal(followed.goal)).roots, [repository.folder]);
      await tutti.cancel(followed.task, "seen");
    },
  );
}
