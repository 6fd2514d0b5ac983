// The dashboard in a real Chromium, served by a real daemon: from signing in to a verified report. Only the models are played.
import assert from "node:assert/strict";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import type { Browser, BrowserContext, Page } from "playwright-core";

import { httpClient, service, type Tutti } from "../../src/client/index.ts";
import { skipUnconfined as skip } from "../support/assignment-kit.ts";
import { buildDashboard } from "../support/build-dashboard.ts";
import { launchChromium } from "../support/chromium.ts";
import { type FakeGh, fakeGh, honestGh } from "../support/fake-gh.ts";
import { testRepository, type TestRepository } from "../support/git-kit.ts";
import { delegate } from "../support/manager-kit.ts";
import type { Cleanup } from "../support/temp-folder.ts";
import { accessibilityCases } from "./accessibility-cases.ts";
import { nodesCases } from "./nodes-cases.ts";
import { reportCases } from "./report-cases.ts";
import { steeringCases } from "./steering-cases.ts";
import { taskPageCases } from "./task-page-cases.ts";
import { type UpProcess, type UpScene, upScene } from "../support/up-process.ts";

const patienceMs = 240_000;
const person = { kind: "person", name: "Ada" } as const;

let scene: UpScene;
let daemon: UpProcess;
let browser: Browser;
let context: BrowserContext;
let page: Page;
let repository: TestRepository;
let gh: FakeGh;
let key: string;
let url: string;
let tutti: Tutti;
/** Made before the first test, so that it grows old while the others run. */
let unused: { readonly code: string; readonly expires_at: number };
/** What the browser complained about: a script that was refused, or an error of the page. */
const complaints: string[] = [];

const cleanups: (() => unknown)[] = [];
const all: Cleanup = { after: (clean) => void cleanups.push(clean) };

before(async () => {
  buildDashboard();
  scene = upScene(all);
  // The daemon gets the PATH that it is started with.
  gh = fakeGh(all, honestGh);
  process.env["PATH"] = gh.path;
  daemon = await scene.up();
  key = readFileSync(join(scene.state, "admin.key"), "utf8").trim();
  ({ url } = daemon.found.daemon);
  tutti = httpClient({ url, key });
  unused = await madeCode();
  repository = testRepository(all, { "total.txt": "3\n", "check.sh": 'test "$(cat total.txt)" = 4\n' });
  repository.git("remote", "add", "origin", gh.origin);
  browser = await launchChromium();
  context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  page = await newPage(context);
});

after(async () => {
  await browser?.close();
  await tutti?.close();
  for (const clean of cleanups.toReversed()) await clean();
});

async function newPage(inContext: BrowserContext): Promise<Page> {
  const made = await inContext.newPage();
  made.setDefaultTimeout(patienceMs);
  made.on("pageerror", (error) => complaints.push(error.message));
  made.on("console", (message) => {
    if (/Content Security Policy|Trusted Types/i.test(message.text())) complaints.push(message.text());
  });
  return made;
}

async function madeCode(at = { url, key }): Promise<{ code: string; expires_at: number }> {
  const { call } = service({ url: at.url, bearer: () => at.key });
  return call("makeSignInCode", {});
}

async function freshCode(at = { url, key }): Promise<string> {
  return (await madeCode(at)).code;
}

/** A page with a browser state of its own. */
async function stranger(width = 1280): Promise<Page> {
  return newPage(await browser.newContext({ viewport: { width, height: 840 }, reducedMotion: "reduce" }));
}

/** A page with a browser state of its own, signed in at whichever daemon the address is of. */
async function visitor(address: string, withKey: string): Promise<Page> {
  const { origin, pathname } = new URL(address);
  const made = await stranger();
  await made.goto(`${origin}${pathname}#code=${await freshCode({ url: origin, key: withKey })}`);
  return made;
}

const script = {
  rules: [
    {
      agent: "manager",
      raw: delegate([{ id: "total", prompt: "Write the total.", kind: "code_change", workdir: "." }]),
    },
    { agent: "worker", turn: 0, say: "I look first.", ask: { question: "Which total is right?", choices: ["4", "5"] } },
    { agent: "worker", turn: 1, call: [{ tool: "run", args: { argv: ["sh", "-c", "rm -rf everything"] } }] },
    { agent: "worker", turn: 2, call: [{ tool: "write", args: { path: "total.txt", content: "4\n" } }] },
    { agent: "worker", final: "The total is 4." },
  ],
};
const approvals = { execute: "ask" };

test("a link with a code signs in once, leaves no code behind, and keeps its token in the tab alone", async () => {
  const code = await freshCode();
  await page.goto(`${url}/#code=${code}`);
  await page.getByRole("heading", { level: 1, name: "Nothing waits for you" }).waitFor();
  assert.equal(new URL(page.url()).hash, "");
  assert.match((await page.evaluate(() => sessionStorage.getItem("tutti.token"))) ?? "", /^tw_/);
  assert.deepEqual(await context.cookies(), []);
  const stranger = await newPage(await browser.newContext());
  await stranger.goto(`${url}/#code=${code}`);
  await stranger.getByText("This link was used already").waitFor();
  await stranger.context().close();
});

test(
  "a goal goes from the page to its verified report, with its plan approved, a question answered and a call denied",
  { skip },
  async () => {
    // The request is the page's own; only the models are played.
    await page.route("**/v1/goals", async (route) => {
      if (route.request().method() !== "POST") return route.continue();
      const body: object = JSON.parse(route.request().postData() ?? "{}");
      await route.continue({ postData: JSON.stringify({ ...body, script, approvals }) });
    });
    await page.goto(url);
    await page.getByRole("button", { name: "New goal" }).click();
    await page.getByLabel("What should be reached?").fill("The total is 4.");
    await page.getByLabel("Folder").fill(repository.folder);
    await page.getByLabel("What must be true in the end").fill("`sh check.sh` succeeds");
    await page.getByLabel("Checks that Tutti runs").fill("sh check.sh");
    await page.getByRole("button", { name: "Make a plan" }).click();
    await page.waitForURL("**/goals/gol_*");
    const plan = page.getByRole("article", { name: /Approval/ });
    await plan.getByText("1 task, at most $10.00 and 5M tokens").waitFor();
    await plan.getByRole("listitem").filter({ hasText: "Write the total." }).getByText("rehearsal/script").waitFor();
    await plan.getByRole("button", { name: "Approve" }).click();

    // The question comes to the page by itself.
    await page.getByText("Which total is right?").waitFor();
    await page.getByRole("button", { name: "4 1" }).click();

    // The rest is done with the keys, in the inbox.
    await page.keyboard.press("g");
    await page.keyboard.press("h");
    const approval = page.getByRole("article", { name: /Approval of worker/ });
    await approval.getByText("rm -rf everything").first().waitFor();
    await approval.getByRole("button", { name: "Deny" }).waitFor();
    await page.keyboard.press("n");
    await approval.waitFor({ state: "detached" });

    await page.getByRole("link", { name: /The total is 4\./ }).click();
    await page.locator(".box").getByText("Verified").waitFor();
    await page.getByRole("tab", { name: "Report" }).click();
    const report = page.getByRole("region", { name: "Report" }).first();
    await report.getByText("every criterion is met").waitFor();
    await page.getByText("1 of 1", { exact: true }).waitFor();
    await report.getByText("1 of 1 task", { exact: true }).waitFor();
    await page
      .getByRole("button", { name: /sh check\.sh.*passed/ })
      .first()
      .click();
    const evidence = page.getByRole("dialog", { name: "Evidence" });
    await evidence.getByText("Supports").waitFor();
    await page.keyboard.press("Escape");

    await report.getByRole("link", { name: "total" }).click();
    await page.getByRole("log", { name: "Transcript" }).getByText("I look first.").waitFor();
    await page.getByRole("tab", { name: "Changes" }).click();
    await page.getByRole("region", { name: "Changes of total.txt" }).getByText("4").last().waitFor();
    await makePullRequest();
    const asked = (await tutti.events({ after: 0, limit: 1_000 })).filter(({ type }) => type === "ask.answered");
    assert.deepEqual(
      asked.map(
        (event) => event.type === "ask.answered" && event.data.answer.kind === "approval" && event.data.answer.approved,
      ),
      [true, false, false],
    );
  },
);

/** From the changes of a task: what leaves the machine is shown, and nothing leaves it before the person agrees. */
async function makePullRequest(): Promise<void> {
  await page.getByRole("button", { name: "Pull request" }).click();
  const dialog = page.getByRole("dialog", { name: "Make a pull request" });
  await dialog.getByLabel("Push to the remote").fill("upstream");
  await dialog.getByRole("button", { name: "Show what would be pushed" }).click();
  await dialog.getByRole("alert").getByText("has no remote upstream").waitFor();
  await dialog.getByLabel("Push to the remote").fill("origin");
  await dialog.getByLabel("Into the branch").fill("main");
  await dialog.getByRole("button", { name: "Show what would be pushed" }).click();
  await dialog.getByText(gh.origin).waitFor();
  await dialog.getByText("1 commit up to").waitFor();
  assert.equal(repository.git("ls-remote", "origin"), "");
  await dialog.getByRole("button", { name: "Push it and open the pull request" }).click();
  await dialog.getByRole("status").getByText("The pull request is open").waitFor();
  assert.equal(await dialog.getByRole("link", { name: "#7" }).getAttribute("href"), "https://github.example/pull/7");
  assert.match(repository.git("ls-remote", "origin"), /^[0-9a-f]{40}\trefs\/heads\/tutti\/\S+$/);
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
}

test(
  "after the daemon was killed, the page says that it is offline, goes on by itself and counts nothing twice",
  { skip },
  async () => {
    const rules = [
      {
        agent: "manager",
        raw: delegate([{ id: "slow", prompt: "Take your time.", kind: "code_change", workdir: "." }]),
      },
      { agent: "worker", turn: 0, ask: { question: "Shall I go on?", choices: ["yes", "no"] } },
      { agent: "worker", turn: 1, delay_ms: 60_000, final: "Done." },
    ];
    const started = await tutti.startGoal({ text: "Wait for me.", folder: repository.folder, script: { rules } });
    await page.goto(`${url}/goals/${started.goal}`);
    await page.getByText("Shall I go on?").waitFor();

    process.kill(daemon.found.daemon.pid, "SIGKILL");
    await daemon.ended;
    await page.getByText("Offline.").waitFor();
    daemon = await scene.up({ args: ["--port", new URL(url).port] });
    await page.getByText("Offline.").waitFor({ state: "detached" });

    const [ask] = await tutti.asks(started.task);
    assert.ok(ask !== undefined);
    await tutti.answer(ask.id, { kind: "question", value: "yes" }, person);
    await page.getByText("Shall I go on?").waitFor({ state: "detached" });
    await page.locator(".box").getByText("Running").waitFor();
    const { tokens } = await treeUse(started.task);
    await page.getByRole("tab", { name: "Tasks" }).click();
    const child = (await tutti.tree(started.task))[1];
    await page.getByText(`· ${shortCount(child?.tokens ?? -1)} tokens ·`).waitFor();
    await page.getByRole("progressbar", { name: `Tokens: ${shortCount(tokens)} of` }).waitFor();

    // A goal is canceled only after a second yes.
    await page.getByRole("button", { name: "Cancel goal" }).click();
    await page.getByRole("button", { name: "Keep it" }).click();
    assert.equal((await tutti.goal(started.goal)).status, "in_progress");
    await page.getByRole("button", { name: "Cancel goal" }).click();
    await page.getByRole("button", { name: "Cancel the goal" }).click();
    await page.getByText("Abandoned").first().waitFor();
    assert.equal((await tutti.task(started.task)).status, "canceled");
  },
);

test(
  "the page of a task shows the limits of its goal and the envelope of its review, with the reviewer's reasons",
  { skip },
  async () => {
    const points = [{ id: "task", met: true, why: "It names the license.", where: "LICENSE.txt" }];
    const review = { task: "license", conf: 0.93, gate: "approve", points, findings: ["It names <b>MIT</b>."] };
    const rules = [
      {
        agent: "manager",
        raw: delegate([{ id: "license", prompt: "Name the license.", kind: "code_change", workdir: "." }]),
      },
      { agent: "worker", turn: 0, call: [{ tool: "write", args: { path: "LICENSE.txt", content: "MIT\n" } }] },
      { agent: "worker", final: "It is MIT." },
      { agent: "_reviewer", final: { review } },
    ];
    const started = await tutti.startGoal({ text: "Have a license.", folder: repository.folder, script: { rules } });
    await page.goto(`${url}/goals/${started.goal}`);
    await page.getByText(/^license, of "Have a license\."/).waitFor();
    const [, worker, reviewer] = await tutti.tree(started.task);
    for (const task of [worker, reviewer]) {
      await page.goto(`${url}/tasks/${task?.id ?? ""}?view=routing`);
      const envelope = page.getByRole("region", { name: "Review envelope" });
      for (const part of ["Approve", "93 %", "It names <b>MIT</b>."]) await envelope.getByText(part).waitFor();
      const budget = page.getByRole("region", { name: "Budget" });
      await budget.getByRole("progressbar", { name: "Tasks: 3 of 100" }).waitFor();
    }
    await tutti.cancel(started.task, "seen");
  },
);

steeringCases(() => ({ page, url, tutti, repository }));
reportCases(() => ({ page, url, tutti }));
taskPageCases(() => ({ page, url, tutti, repository }));

async function treeUse(task: string): Promise<{ tokens: number }> {
  const tree = await tutti.tree(task);
  return { tokens: tree.reduce((sum, each) => sum + each.tokens, 0) };
}

function shortCount(number: number): string {
  return number < 1_000 ? String(number) : `${(number / 1_000).toFixed(1).replace(/\.0$/, "")}k`;
}

const attack = [
  "<script>globalThis.hacked = 1</script><img src=x onerror='globalThis.hacked = 1'>",
  "<a href='javascript:globalThis.hacked=1'>click</a> <style>body { display: none }</style>",
  "\u001b[31mred\u001b[0m \u001b]8;;https://evil.example\u0007link\u001b]8;;\u0007 \u001b[2J",
  "invoice\u202egnp.exe \u2066hidden\u2069 \u200b",
  "x".repeat(400_000),
  "<b>the end</b>",
].join("\n");

test("what a session writes is text: no script runs, nothing is loaded, and what cannot be seen is shown", async () => {
  const requests: string[] = [];
  page.on("request", (request) => requests.push(request.url()));
  const file = {
    invocation: {
      targets: [
        {
          agent: { type: "named", agent_id: "mallory" },
          message: { role: "user", parts: [{ part_type: "text", data: attack }] },
        },
      ],
    },
    agents: { mallory: { instructions: "You attack." } },
    script: { rules: [{ turn: 0, say: attack, call: [{ tool: "final", args: { content: attack } }] }] },
  };
  const { task } = await tutti.invoke(JSON.stringify(file), { folder: repository.folder });
  await tutti.settled(task);
  const child = (await tutti.tree(task))[1]?.id ?? "";
  await page.goto(`${url}/tasks/${child}`);
  const log = page.getByRole("log", { name: "Transcript" });
  await log.getByText("<script>globalThis.hacked", { exact: false }).first().waitFor();
  await log.getByText("U+202E").first().waitFor();
  assert.ok((await log.locator(".fg-1", { hasText: "red" }).count()) > 0);
  await log
    .getByRole("button", { name: /Show more \(\d/ })
    .first()
    .waitFor();
  for (const view of ["Raw events", "Steps"]) await page.getByRole("tab", { name: view }).click();
  assert.equal(await page.evaluate(() => Reflect.get(globalThis, "hacked")), undefined);
  assert.equal(await page.locator("main img, main script, main style, main a[href^='javascript']").count(), 0);
  assert.deepEqual(
    requests.filter((each) => !each.startsWith(url)),
    [],
  );
});

nodesCases(() => ({ page, url, visitor }));

test("a key that is typed in signs in, and when it is revoked, the page signs out at once", async () => {
  const made = await tutti.addKey({ name: "phone", role: "viewer" });
  const guest = await newPage(await browser.newContext());
  await guest.goto(`${url}/settings`);
  await guest.getByLabel("Or paste an access key").fill("tk_wrong");
  await guest.getByRole("button", { name: "Sign in" }).click();
  await guest.getByRole("alert").waitFor();
  await guest.getByLabel("Or paste an access key").fill(made.key);
  await guest.getByRole("button", { name: "Sign in" }).click();
  await guest.getByRole("heading", { name: "Settings" }).waitFor();
  await guest.getByRole("heading", { name: "Limits" }).waitFor();
  await guest.getByText("64 at the same time").waitFor();
  await tutti.revokeKey(made.id);
  await guest.getByText("This sign-in is no longer good").waitFor();
  assert.equal(await guest.evaluate(() => sessionStorage.getItem("tutti.token")), null);
  await guest.context().close();
});

test("a thread with an agent goes on from one message to the next", async () => {
  await page.route("**/v1/invocations**", async (route) => {
    const body: object = JSON.parse(route.request().postData() ?? "{}");
    const heard = { rules: [{ final: "I heard: {{user}}" }] };
    await route.continue({ postData: JSON.stringify({ ...body, script: heard }) });
  });
  repository.write(".tutti/agents/helper.md", "---\nname: helper\ndescription: helps\n---\nYou help.\n");
  await page.goto(`${url}/threads`);
  await page.getByLabel("Project").fill(repository.folder);
  await page.getByLabel("With").selectOption("helper");
  await page.getByLabel("First message").fill("Who are you?");
  await page.getByRole("button", { name: "Begin" }).click();
  const thread = page.getByRole("log", { name: "Thread" });
  await thread.getByText("I heard: Who are you?").waitFor();
  const box = page.getByLabel("Message to the agent");
  await box.and(page.locator(":enabled")).waitFor();
  await box.fill("And now?");
  await page.getByRole("button", { name: "Send" }).click();
  await thread.getByText("I heard: And now?").waitFor();
});

test("the policy in force names its file, decides in the playground, and is reached on a phone", async () => {
  const own = await newPage(await browser.newContext({ viewport: { width: 390, height: 840 } }));
  await own.goto(`${url}/#code=${await freshCode()}`);
  await own.getByRole("button", { name: "More" }).click();
  await own.getByRole("dialog", { name: "More" }).getByRole("link", { name: "Policy" }).click();
  const inForce = own.getByRole("region", { name: "Policy in force" });
  await inForce.getByText("no file was written").waitFor();
  await inForce.getByText("router: ").waitFor();
  await own.getByText("By the policy in force.").waitFor();
  await own.getByRole("button", { name: "Which model gets it?" }).click();
  await own.getByRole("status").getByText("Goes to").waitFor();

  // A policy that nobody agreed to is named, and neither shown nor used.
  repository.write(".tutti/policy.toon", "policy:\n  router: evil/model\n");
  await own.getByLabel("Project").selectOption(repository.folder);
  await inForce.getByText("not in use").waitFor();
  await inForce.getByText("was not trusted as it is now").waitFor();
  await own.getByText("By the built-in policy.").waitFor();
  assert.equal(await own.getByText("evil/model").count(), 0);
  rmSync(join(repository.folder, ".tutti", "policy.toon"));

  await own.getByRole("button", { name: "More" }).click();
  await own.getByRole("button", { name: "Sign out" }).click();
  await own.getByLabel("Or paste an access key").waitFor();
  await own.context().close();
});

accessibilityCases(() => ({ url, tutti, repository, stranger, freshCode }));

test("a link that is older than a minute signs nobody in, and says why", async () => {
  await sleep(Math.max(0, unused.expires_at - Date.now()));
  const late = await stranger();
  await late.goto(`${url}/#code=${unused.code}`);
  await late.getByRole("alert").getByText("it is older than a minute").waitFor();
  assert.equal(await late.evaluate(() => sessionStorage.getItem("tutti.token")), null);
  await late.context().close();
});

test("the browser refused nothing of the page, and no page had an error", () => {
  assert.deepEqual(complaints, []);
});
