// Makes the picture of the README: plays the tour on a daemon of its own, and takes the page of the goal in Chromium.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { httpClient, type Tutti } from "../src/client/index.ts";
import { buildDashboard } from "../test/support/build-dashboard.ts";
import { launchChromium } from "../test/support/chromium.ts";

const project = join(import.meta.dirname, "..");
const pictures = join(project, "docs", "pictures");
const patienceMs = 90_000;

const home = mkdtempSync(join(tmpdir(), "tutti-pictures-"));
buildDashboard();
const daemon = spawn(process.execPath, [join(project, "bin", "tutti.js"), "up", "--tour", "--port", "0"], {
  cwd: home,
  env: { PATH: process.env["PATH"], HOME: home, NO_COLOR: "1" },
  stdio: ["ignore", "pipe", "inherit"],
});
try {
  let said = "";
  daemon.stdout.on("data", (chunk: Buffer) => (said += chunk.toString()));
  const url = await until(() => /tutti up at (\S+)/.exec(said)?.[1]);
  const key = readFileSync(join(home, ".tutti", "admin.key"), "utf8").trim();
  const tutti = httpClient({ url, key });
  const goal = await until(() => doneGoal(tutti));
  const browser = await launchChromium();
  mkdirSync(pictures, { recursive: true });
  for (const scheme of ["light", "dark"] as const) {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme: scheme });
    await page.addInitScript(`sessionStorage.setItem("tutti.token", ${JSON.stringify(key)})`);
    await page.goto(`${url}/goals/${goal}`);
    await page.locator(".box").first().waitFor();
    // The graph fits itself into its place once it knows the size of that place.
    await sleep(1_500);
    const path = join(pictures, `dashboard-${scheme}.png`);
    await page.screenshot({ path });
    console.log(path);
  }
  await browser.close();
  await tutti.close();
} finally {
  daemon.kill("SIGTERM");
  await once(daemon, "exit");
  rmSync(home, { recursive: true, force: true, maxRetries: 5 });
}

async function doneGoal(tutti: Tutti): Promise<string | undefined> {
  return (await tutti.goals()).goals.find(({ status }) => status === "done")?.goal;
}

async function until<T>(look: () => T | undefined | Promise<T | undefined>): Promise<T> {
  for (const end = Date.now() + patienceMs; Date.now() < end; await sleep(100)) {
    const found = await look();
    if (found !== undefined) return found;
  }
  throw new Error(`this did not happen within ${patienceMs} ms: ${look.toString()}`);
}
