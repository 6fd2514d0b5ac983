// What the page of a task is for, in a real Chromium: long transcripts, budgets, and steering a session while it works.
import assert from "node:assert/strict";
import { test } from "node:test";

import type { Page } from "playwright-core";

import type { Tutti } from "../../src/client/index.ts";
import { skipUnconfined as skip } from "../support/assignment-kit.ts";
import type { TestRepository } from "../support/git-kit.ts";
import { delegate } from "../support/manager-kit.ts";
import { until } from "../support/wait-until.ts";

export interface WebScene {
  readonly page: Page;
  readonly url: string;
  readonly tutti: Tutti;
  readonly repository: TestRepository;
}

/** `scene`: what the tests before these left; a daemon that was restarted is another one. */
export function taskPageCases(scene: () => WebScene): void {
  test("a long transcript begins at its end, older entries come as one scrolls, and a link finds an early one", async () => {
    const { page, url, tutti, repository } = scene();
    // Each call has another path: an agent that repeats itself is ended.
    const callsOf = (turn: number) =>
      Array.from({ length: 60 }, (_, index) => ({ tool: "read", args: { path: `no-${turn}-${index}.txt` } }));
    const turns = [0, 1, 2, 3, 4].map((turn) => ({ turn, say: `Turn ${turn} begins.`, call: callsOf(turn) }));
    const task = await invoked(scene(), {
      agents: { reader: { instructions: "You read.", tools: ["read"] } },
      script: { rules: [...turns, { final: "All was read." }] },
      roots: [repository.folder],
    });
    const first = await tutti.history(task, { types: "message.added", limit: 1_000 });
    const early = first.events.find((event) => JSON.stringify(event.data).includes("Turn 0 begins."));
    assert.ok(early !== undefined);
    assert.ok((await tutti.history(task)).next !== null, "there is more than one page");

    const read: string[] = [];
    page.on("request", (request) => read.push(request.url()));
    await page.goto(`${url}/tasks/${task}`);
    const log = page.getByRole("log", { name: "Transcript" });
    await log.getByText("All was read.").first().waitFor();
    assert.equal(await log.getByText("Turn 0 begins.").count(), 0);
    const asked = (part: string): number => read.filter((each) => each.includes(part)).length;
    assert.equal(asked("/events?"), 1, "the one stream, and no events from their beginning");
    const before = asked("before=");
    const found = log.getByText("Turn 0 begins.");
    for (let tries = 0; tries < 200 && (await found.count()) === 0; tries += 1) {
      await log.evaluate((element) => (element.scrollTop = 0));
      await page.waitForTimeout(50);
    }
    await found.waitFor();
    assert.ok(asked("before=") > before);

    await page.goto("about:blank");
    await page.goto(`${url}/tasks/${task}#e${early.seq}`);
    await page.locator(".linked").getByText("Turn 0 begins.").waitFor();
  });

  test("a task's bars show what was set apart for it, and a limit that a person raised, at once", async () => {
    const { page, url } = scene();
    const rules = [
      { turn: 0, spend: { input: 600, output: 0 }, call: [{ tool: "read", args: { path: "no.txt" } }] },
      { final: "Spent." },
    ];
    for (const [apart, tree] of [
      [{ tokens: 700 }, {}],
      [{}, { tokens: 700 }],
    ] as const) {
      const agents = { spender: { instructions: "You spend.", budget: apart } };
      const task = await invoked(scene(), { agents, budget: tree, script: { rules }, settle: false });
      await page.goto(`${url}/tasks/${task}`);
      const budget = page.getByRole("region", { name: "Budget" });
      await budget.getByRole("progressbar", { name: /^Tokens: .* of 700/ }).waitFor();
      await budget.getByRole("progressbar", { name: /^Working time: / }).waitFor();
      assert.equal(await budget.getByText("Set apart for this task").count(), "tokens" in apart ? 1 : 0);
      const ask = page.getByRole("article", { name: /^Budget/ });
      await ask.getByRole("button", { name: "Go on" }).click();
      await ask.waitFor({ state: "detached" });
      await page.getByText("Completed").first().waitFor();
      // The limit of the model's longest reply may be more than twice what was allowed.
      await budget.getByRole("progressbar", { name: /^Tokens: .* of 700/ }).waitFor({ state: "detached" });
      await page.reload();
      await budget
        .getByRole("progressbar", { name: /^Tokens: / })
        .first()
        .waitFor();
      assert.equal(await budget.getByRole("progressbar", { name: /^Tokens: .* of 7\d\d$/ }).count(), 0);
    }
  });

  test(
    "a session is seen at work: comments on its lines reach it as one message, and it is stopped, resumed and canceled",
    { skip },
    async () => {
      const { page, url, tutti, repository } = scene();
      const rules = [
        {
          agent: "manager",
          raw: delegate([{ id: "names", prompt: "Write names.", kind: "code_change", workdir: "." }]),
        },
        { agent: "worker", turn: 0, call: [{ tool: "write", args: { path: "names.txt", content: "ada\ngrace\n" } }] },
        { agent: "worker", turn: 1, ask: { question: "Are these all?", choices: ["yes", "no"] } },
        { agent: "worker", turn: 2, delay_ms: 600_000, final: "Done." },
      ];
      const started = await tutti.startGoal({ text: "Name them.", folder: repository.folder, script: { rules } });
      await page.goto(`${url}/goals/${started.goal}`);
      await page.getByText("Are these all?").waitFor();
      const task = (await tutti.tree(started.task))[1]?.id ?? "";

      // Nothing is committed yet, and all of it is shown.
      await page.goto(`${url}/tasks/${task}?view=changes`);
      const file = page.getByRole("region", { name: "File names.txt" });
      await file.getByText("grace").waitFor();
      await file.getByRole("button", { name: "Comment on added line 1" }).click();
      await page.getByLabel("Comment on names.txt line 1").fill("Write Ada.");
      await file.getByRole("button", { name: "Comment on added line 2" }).click();
      await page.getByLabel("Comment on names.txt line 2").fill("Write Grace.");
      await page.getByRole("button", { name: "Send to the session" }).click();
      await page.getByText("The comments were sent.").waitFor();
      await page.getByRole("button", { name: "yes" }).click();
      await page.getByRole("tab", { name: "Transcript" }).click();
      const log = page.getByRole("log", { name: "Transcript" });
      await log.getByText("2 comments on your changes:").waitFor();
      for (const part of ["names.txt, line 1:", "Write Ada.", "Write Grace."])
        await log.getByText(part).first().waitFor();

      await page.getByRole("button", { name: "Stop", exact: true }).click();
      await page.getByText("This task was stopped").first().waitFor();
      await page.getByRole("button", { name: "Resume", exact: true }).click();
      await page.getByRole("button", { name: "Stop", exact: true }).waitFor();
      await until(async () => (await tutti.task(task)).status === "running", "it goes on");
      assert.equal((await tutti.task(task)).attempt, 2);
      await page.getByRole("tab", { name: "Attempts and tasks" }).click();
      await page.getByText("2 attempts").waitFor();

      await page.getByRole("button", { name: "Cancel", exact: true }).click();
      await page.getByRole("button", { name: "Cancel the task" }).click();
      await page.getByText("Canceled").first().waitFor();
      assert.equal((await tutti.task(task)).status, "canceled");
      await tutti.cancel(started.task, "seen");
    },
  );

  test("the palette finds a goal by its words and searches what was said; a hit leads to its place", async () => {
    const { page, url } = scene();
    await page.goto(url);
    await page.getByRole("navigation", { name: "Pages" }).waitFor();
    await page.keyboard.press("Control+k");
    const palette = page.getByRole("dialog", { name: /Go to/ });
    await palette.getByRole("combobox").or(palette.getByRole("textbox")).fill("All was read");
    await palette.getByText("Search for").click();
    await page.waitForURL("**/search?q=*");
    await page
      .getByRole("link", { name: /All was read/ })
      .first()
      .click();
    await page.waitForURL("**/tasks/**");
    await page.getByText("All was read.").first().waitFor();
  });
}

/** One agent, asked for once. Returns its task. */
async function invoked(
  { tutti, repository }: WebScene,
  {
    settle = true,
    ...file
  }: { readonly agents: Readonly<Record<string, object>>; readonly settle?: boolean } & Readonly<
    Record<string, unknown>
  >,
): Promise<string> {
  const message = { role: "user", parts: [{ part_type: "text", data: "Begin." }] };
  const targets = Object.keys(file.agents).map((agent_id) => ({ agent: { type: "named", agent_id }, message }));
  const { task } = await tutti.invoke(JSON.stringify({ invocation: { targets }, ...file }), {
    folder: repository.folder,
  });
  if (settle) await tutti.settled(task);
  return until(async () => (await tutti.tree(task))[1]?.id, "the agent has a task");
}
