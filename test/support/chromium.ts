// The browser of the tests: Chromium as the system has it. On Debian it is installed when it is absent.

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";

import { type Browser, chromium } from "playwright-core";

const places = [
  process.env["TUTTI_CHROMIUM"],
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

const found = (): string | undefined => places.find((place) => place !== undefined && existsSync(place));

/** Throws with what to do when there is no browser and none can be installed here. */
function chromiumPath(): string {
  const known = found();
  if (known !== undefined) return known;
  if (isDebian() && process.getuid?.() === 0) {
    const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
    spawnSync("apt-get", ["update", "-qq"], { stdio: "inherit", env });
    spawnSync("apt-get", ["install", "-y", "-qq", "chromium"], { stdio: "inherit", env });
  }
  const installed = found();
  if (installed !== undefined) return installed;
  throw new Error(
    "the tests of the dashboard need Chromium: install it (on Debian as root: apt-get install chromium), " +
      "or name a Chromium or Chrome with TUTTI_CHROMIUM=/path/to/it",
  );
}

function isDebian(): boolean {
  try {
    return /^ID(?:_LIKE)?=.*debian/m.test(readFileSync("/etc/os-release", "utf8"));
  } catch {
    return false;
  }
}

/** It asks nobody outside, and its sandbox is off, since tests may run as root. */
const flags = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export function launchChromium(more: readonly string[] = []): Promise<Browser> {
  return chromium.launch({ executablePath: chromiumPath(), args: [...flags, ...more] });
}
