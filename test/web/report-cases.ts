// What the page of a goal says when not everything is proven, in a real Chromium.
import { test } from "node:test";

import { skipUnconfined as skip } from "../support/assignment-kit.ts";
import { testRepository } from "../support/git-kit.ts";
import { delegate } from "../support/manager-kit.ts";
import type { WebScene } from "./task-page-cases.ts";

const person = { kind: "person", name: "Ada" } as const;

export function reportCases(scene: () => Omit<WebScene, "repository">): void {
  test(
    "a goal that was not reached shows no full bar, counts its tasks, and says of each criterion what is missing",
    { skip },
    async (t) => {
      const { page, url, tutti } = scene();
      const repository = testRepository(t, { "total.txt": "3\n", "check.sh": 'test "$(cat total.txt)" = 4\n' });
      const rules = [
        { agent: "manager", raw: delegate([{ id: "total", prompt: "Write it.", kind: "code_change", workdir: "." }]) },
        { agent: "worker", turn: 0, call: [{ tool: "write", args: { path: "total.txt", content: "4\n" } }] },
        { agent: "worker", final: "It is written." },
      ];
      const { goal, task } = await tutti.startGoal({
        text: "The total is 4, and it is friendly.",
        folder: repository.folder,
        accept: ["it is friendly"],
        checks: ["sh check.sh"],
        script: { rules },
      });
      for await (const told of tutti.follow({ task })) {
        if (!("event" in told) || told.event.type !== "ask.raised") continue;
        await tutti.answer(told.event.data.ask.id, { kind: "question", value: "stop" }, person);
      }
      await page.goto(`${url}/goals/${goal}?view=report`);
      const report = page.getByRole("region", { name: "Report" }).first();
      await report.getByText("1 of 1 task", { exact: true }).waitFor();
      await page.getByText('"it is friendly": nothing proves it.').waitFor();
      await page.getByText("1 of 1 task verified").waitFor();
      await page.getByRole("progressbar", { name: "1 of 1 task verified" }).waitFor({ state: "detached" });
      await page.getByText("100 %").waitFor({ state: "detached" });
    },
  );
}
