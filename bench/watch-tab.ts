// What benchmarks of the dashboard look at in a tab: its long tasks and its heap.

import type { CDPSession, Page } from "playwright-core";

/** From now on the tab notes how long each of its long tasks takes, in milliseconds. */
export async function noteLongTasks(tab: Page): Promise<() => Promise<number[]>> {
  const observe =
    "globalThis.long = []; new PerformanceObserver((list) => long.push(...list.getEntries().map((e) => e.duration))).observe({ type: 'longtask' })";
  await tab.evaluate(observe);
  return () => tab.evaluate("long");
}

/** Throws when the tab would not have noted a long task: a measurement that sees nothing must not pass. */
export async function mustNoteLongTasks(tab: Page, longTasks: () => Promise<number[]>): Promise<void> {
  const before = (await longTasks()).length;
  const spin =
    "new Promise((done) => setTimeout(() => { const end = performance.now() + 120; while (performance.now() < end); setTimeout(done, 300) }))";
  await tab.evaluate(spin);
  if ((await longTasks()).length <= before) throw new Error("a task of 120 ms was not noted");
}

/** What is still there after everything that can go is gone. */
export async function heapOf(session: CDPSession): Promise<number> {
  await session.send("HeapProfiler.collectGarbage");
  return (await session.send("Runtime.getHeapUsage")).usedSize;
}
