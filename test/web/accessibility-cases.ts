// Every page in a real Chromium, on a desk and on a phone, light and dark: it fits its width and axe finds no serious fault.
import assert from "node:assert/strict";
import { test } from "node:test";

import axe from "axe-core";
import type { Page } from "playwright-core";

import type { TaskId, Tutti } from "../../src/client/index.ts";
import { skipUnconfined } from "../support/assignment-kit.ts";
import { delegate } from "../support/manager-kit.ts";
import type { TestRepository } from "../support/git-kit.ts";
import { until } from "../support/wait-until.ts";

export interface PagesScene {
  readonly url: string;
  readonly tutti: Tutti;
  readonly repository: TestRepository;
  /** A page of this width with a browser state of its own that is not signed in. */
  readonly stranger: (width: number) => Promise<Page>;
  readonly freshCode: () => Promise<string>;
}

interface AxeResult {
  readonly violations: readonly {
    readonly id: string;
    readonly impact: string;
    readonly help: string;
    readonly nodes: readonly { readonly html: string }[];
  }[];
}

/** All of its rules. Sheets of styles of other hosts need not be fetched, since there are none. */
const axeOptions = JSON.stringify({ resultTypes: ["violations"], preload: false });
const person = { kind: "person", name: "Ada" } as const;

/** What opens above a page: how, and its name. */
const dialogs = [
  ["New goal", (page: Page) => page.getByRole("button", { name: "New goal" }).click()],
  ["Go to, or search", (page: Page) => page.keyboard.press("Control+k")],
] as const;

export function accessibilityCases(scene: () => PagesScene): void {
  for (const width of [1280, 390]) {
    test(`every page, ${width} pixels wide, in both themes, fits its width and has no serious fault of accessibility`, async () => {
      const { url, tutti, repository, stranger, freshCode } = scene();
      const shown = await thingsToShow(tutti, repository.folder);
      const faults: string[] = [];
      const page = await stranger(width);
      await page.goto(url);
      await page.getByLabel("Or paste an access key").waitFor();
      faults.push(...(await faultsOf(page, "the page to sign in")));

      await page.goto(`${url}/shortcuts#code=${await freshCode()}`);
      await page.getByRole("navigation", { name: "Pages" }).waitFor();
      for (const path of shown.paths) {
        await page.goto(`${url}${path}`);
        await page.locator(".page").waitFor();
        await page.locator("[aria-busy]").first().waitFor({ state: "detached" });
        faults.push(...(await faultsOf(page, path)));
      }
      await page.goto(url);
      for (const [name, open] of dialogs) {
        await page.getByRole("navigation", { name: "Pages" }).waitFor();
        await open(page);
        const dialog = page.getByRole("dialog", { name });
        await dialog.waitFor();
        faults.push(...(await faultsOf(page, name)));
        await page.keyboard.press("Escape");
        await dialog.waitFor({ state: "detached" });
      }
      await page.context().close();
      for (const task of shown.open) await tutti.cancel(task, "seen");
      assert.deepEqual(faults, []);
    });
  }
}

/** In both themes. The page is loaded once, and its system changes from light to dark. */
async function faultsOf(page: Page, what: string): Promise<string[]> {
  const faults: string[] = [];
  const overflow = Number(await page.evaluate("document.documentElement.scrollWidth - innerWidth"));
  if (overflow > 0) faults.push(`${what}: ${overflow} pixels too wide`);
  if (await page.evaluate("globalThis.axe === undefined")) await page.evaluate(axe.source);
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    const { violations }: AxeResult = await page.evaluate(`axe.run(document, ${axeOptions})`);
    for (const { id, impact, help, nodes } of violations) {
      if (impact !== "serious" && impact !== "critical") continue;
      faults.push(`${what}, ${colorScheme}: ${id} (${help}) ${nodes[0]?.html.slice(0, 200) ?? ""}`);
    }
  }
  return faults;
}

/** Pages with something on them: a goal that ended, a plan and a question that wait, and a conversation. */
async function thingsToShow(tutti: Tutti, folder: string): Promise<{ paths: string[]; open: TaskId[] }> {
  const goal = (await tutti.goals()).goals.at(-1);
  const ended = (await tutti.tree(goal?.task ?? ""))[1]?.id ?? "";
  const conversation = await tutti.startConversation({ script: { rules: [{ raw: "Two goals ended." }] } });
  await tutti.converse(conversation, "What is running?", person);

  const rules = [{ turn: 0, ask: { question: "May I use **red**?", choices: ["yes", "no"] } }];
  const target = {
    agent: { type: "named", agent_id: "painter" },
    message: { role: "user", parts: [{ part_type: "text", data: "Begin." }] },
  };
  const agents = { painter: { instructions: "You paint." } };
  const file = JSON.stringify({ invocation: { targets: [target] }, agents, script: { rules } });
  const asking = await tutti.invoke(file, { folder });
  const asked = await until(async () => (await tutti.asks(asking.task))[0], "it asks");
  const planned = skipUnconfined === false ? await plannedGoal(tutti, folder) : undefined;
  const paths = [
    "/",
    `/asks/${asked.id}`,
    ...(planned === undefined ? [] : [`/goals/${planned.goal}`]),
    `/goals/${goal?.goal ?? ""}`,
    `/goals/${goal?.goal ?? ""}?view=report`,
    ...["transcript", "changes", "steps", "routing", "family", "events"].map((view) => `/tasks/${ended}?view=${view}`),
    `/tasks/${asked.task}`,
    "/board",
    "/fleet",
    "/search?q=total",
    "/threads",
    `/threads/${conversation}`,
    "/policy",
    "/settings",
    "/shortcuts",
    "/asks/ask_none",
    "/nowhere",
  ];
  return { paths, open: [asking.task, ...(planned === undefined ? [] : [planned.task])] };
}

async function plannedGoal(tutti: Tutti, folder: string): Promise<{ goal: string; task: TaskId }> {
  const raw = delegate([{ id: "sky", prompt: "Paint the sky.", kind: "code_change", workdir: "." }]);
  const script = { rules: [{ agent: "manager", raw }] };
  const started = await tutti.startGoal({ text: "A red sky.", folder, plan: true, script });
  await until(async () => (await tutti.asks(started.task))[0], "the plan waits");
  return started;
}
