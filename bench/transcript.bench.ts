// The page of a task with 50,000 events in a real Chromium, from a real engine with a real store: how long it takes until its
// end is shown, against a task with 500 events; and while a reader scrolls back through it, the longest task of the page.
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import type { Browser, Page } from "playwright-core";

import type { Durable } from "../src/ports.ts";
import { buildDashboard } from "../test/support/build-dashboard.ts";
import { launchChromium } from "../test/support/chromium.ts";
import { type Kit, openKit } from "../test/support/http-kit.ts";
import { report, round } from "./measure.ts";
import { heapOf, mustNoteLongTasks, noteLongTasks } from "./watch-tab.ts";

const [many, few, rounds, pagesBack] = [50_000, 500, 5, 40];
const web = join(import.meta.dirname, "..", "dist", "web");
const text = "I look at what is there, and then I decide what is to be done about it. ".repeat(4);

/** Three events for each turn: what was said with a call, its result, and a thought. */
async function speak(durable: Durable): Promise<string> {
  const count = Number(durable.agent);
  for (let at = 0; at < count; at += 3) {
    const call = { tool_call_id: `c${at}`, tool_name: "run", input: { argv: ["npm", "test", String(at)] } };
    const [said, called] = [
      { part_type: "text" as const, data: `${at}: ${text}` },
      { part_type: "tool_call" as const, data: call },
    ];
    durable.say(`m${at}`, { name: null, role: "assistant", parts: [said, called] });
    const result = { tool_call_id: `c${at}`, tool_name: "run", parts: [{ part_type: "text" as const, data: text }] };
    durable.say(`r${at}`, { name: null, role: "tool", parts: [{ part_type: "tool_result", data: result }] });
    durable.tell(`t${at}`, { type: "session.updated", data: { kind: "thought", update: { text: `Thought ${at}.` } } });
    // A batch for each turn of the event loop.
    if (at % 999 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  return `said ${count}`;
}

async function spoken(kit: Kit, count: number): Promise<string> {
  const task = await kit.start({ agent: String(count) });
  await kit.state.engine.result(task);
  return `/tasks/${task}`;
}

async function newTab(browser: Browser, kit: Kit): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  await context.addInitScript(`sessionStorage.setItem("tutti.token", ${JSON.stringify(kit.key)})`);
  return context.newPage();
}

/** Milliseconds until the end of the transcript is in view, in a tab that has nothing yet. */
async function timeToEnd(browser: Browser, kit: Kit, path: string): Promise<number> {
  const tab = await newTab(browser, kit);
  const begun = performance.now();
  await tab.goto(`${kit.http.url}${path}`);
  await tab.getByRole("log", { name: "Transcript" }).getByText("Completed").waitFor();
  const took = performance.now() - begun;
  await tab.context().close();
  return took;
}

buildDashboard();
const kit = await openKit({ runners: { loop: speak }, http: { web } });
const browser = await launchChromium();
try {
  const [long, short] = [await spoken(kit, many), await spoken(kit, few)];
  const times = { long: Infinity, short: Infinity };
  for (let index = -1; index < rounds; index += 1) {
    const [ofLong, ofShort] = [await timeToEnd(browser, kit, long), await timeToEnd(browser, kit, short)];
    if (index >= 0) Object.assign(times, { long: Math.min(times.long, ofLong), short: Math.min(times.short, ofShort) });
  }
  report({
    name: "transcript: time until the end of 50,000 events is shown against 500",
    ratio: times.long / times.short,
    target: 1.5,
    figures: { long_ms: round(times.long, 0), short_ms: round(times.short, 0) },
  });

  const tab = await newTab(browser, kit);
  await tab.goto(`${kit.http.url}${long}`);
  const log = tab.getByRole("log", { name: "Transcript" });
  await log.getByText("Completed").waitFor();
  const session = await tab.context().newCDPSession(tab);
  const longTasks = await noteLongTasks(tab);
  const atEnd = await heapOf(session);
  const begun = performance.now();
  for (let page = 0; page < pagesBack; page += 1) {
    const oldest = await oldestShown(tab);
    await log.evaluate((element) => (element.scrollTop = 0));
    for (let tries = 0; (await oldestShown(tab)) === oldest; tries += 1) {
      if (tries > 500) throw new Error(`nothing older than ${oldest} is shown`);
      await sleep(20);
    }
  }
  const scrolledMs = performance.now() - begun;
  const noted = await longTasks();
  await mustNoteLongTasks(tab, longTasks);
  const figures = {
    read_back_to: await oldestShown(tab),
    scrolled_ms: round(scrolledMs, 0),
    long_tasks: noted.length,
    heap_at_end_mb: round(atEnd / 2 ** 20, 1),
    heap_after_mb: round((await heapOf(session)) / 2 ** 20, 1),
  };
  const longest = Math.max(0, ...noted);
  report({
    name: "transcript: longest task while scrolling back against 200 ms",
    ratio: longest / 200,
    target: 1,
    figures: { ...figures, longest_ms: round(longest, 0) },
  });
} finally {
  await browser.close();
  await kit.close();
}

/** The number that the first message in view says. */
function oldestShown(tab: Page): Promise<number> {
  return tab.evaluate(
    "Math.min(...[...document.querySelectorAll('.entry-assistant .prose')].map((e) => parseInt(e.textContent)))",
  );
}
