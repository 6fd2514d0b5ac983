// The dashboard in a real Chromium: how much JavaScript its first page loads, and whether a goal of 2,000 tasks that a real engine
// works on stays smooth with 200 events a second for 30 s: the longest task of the page after its load, and its heap at the end
// against that after 10 s.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";

import { buildDashboard } from "../test/support/build-dashboard.ts";
import { launchChromium } from "../test/support/chromium.ts";
import { busyGoal } from "./busy-goal.ts";
import { report, round } from "./measure.ts";
import { heapOf, mustNoteLongTasks, noteLongTasks } from "./watch-tab.ts";

const [tasks, perSecond, settleMs, firstMs, allMs] = [2_000, 200, 4_000, 10_000, 30_000];
const web = join(import.meta.dirname, "..", "dist", "web");
buildDashboard();

const page = readFileSync(join(web, "index.html"), "utf8");
const initial = [...page.matchAll(/(?:src|href)="(\/assets\/[^"]+\.js)"/g)].map(([, path = ""]) => path);
const gzipped = initial.reduce((sum, path) => sum + gzipSync(readFileSync(join(web, path))).length, 0);
report({
  name: "dashboard: initial JavaScript against 250 kB",
  ratio: gzipped / 250_000,
  target: 1,
  figures: {
    kb_gzipped: round(gzipped / 1_000, 1),
    files: initial.length,
    all: readdirSync(join(web, "assets")).length,
  },
});

const goal = await busyGoal(web, tasks);
const browser = await launchChromium();
try {
  const tab = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  await tab.addInitScript(`sessionStorage.setItem("tutti.token", ${JSON.stringify(goal.kit.key)})`);
  await tab.goto(`${goal.kit.http.url}${goal.path}`);
  await tab.locator(".box").first().waitFor();
  await sleep(settleMs);
  const shownTokens = async (): Promise<string> =>
    (await tab.getByRole("progressbar", { name: /^Tokens: / }).getAttribute("aria-label")) ?? "";
  await tab.getByRole("progressbar", { name: "Tasks: 2k of" }).waitFor();
  const session = await tab.context().newCDPSession(tab);
  const longTasks = await noteLongTasks(tab);
  const end = goal.begin(perSecond);
  await sleep(firstMs);
  const early = await heapOf(session);
  const shownEarly = await shownTokens();
  await sleep(allMs - firstMs);
  end();
  await sleep(500);
  const late = await heapOf(session);
  // A page that showed nothing would be smooth, too.
  if ((await shownTokens()) === shownEarly) throw new Error(`the page shows no progress: ${shownEarly}`);
  // Collecting everything at once is a task of this measurement's own making, so the tasks are read before the shares are told.
  const long = await longTasks();
  await mustNoteLongTasks(tab, longTasks);
  const figures = {
    tasks,
    events: await goal.sent(),
    early_mb: round(early / 2 ** 20, 1),
    late_mb: round(late / 2 ** 20, 1),
  };
  const longest = Math.max(0, ...long);
  report({
    name: "dashboard: longest task against 200 ms",
    ratio: longest / 200,
    target: 1,
    figures: { ...figures, long_tasks: long.length, longest_ms: round(longest, 0) },
  });
  report({ name: "dashboard: heap after 30 s against after 10 s", ratio: late / early, target: 1.2, figures });
} finally {
  await browser.close();
  await goal.kit.close();
}
