// Shows an address in the person's browser without showing it to other users of the machine.

import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { ownPath } from "../../files/own-environment.ts";
import { replacePrivateFile } from "../../files/private-file.ts";
import { refuseSharedFolder } from "../../files/private-folder.ts";

/** A program that has not failed by then is showing the page. */
const failsWithinMs = 2_000;

/**
 * The arguments of a program can be read by every user of the machine, and the address has a code in it that signs in. So
 * the browser is given a file that only this user can read, and the file leads to the address. The next address
 * replaces it; by then the code is used up or too old.
 */
export async function openBrowser(folder: string, url: string): Promise<boolean> {
  const program = browserProgram(process.env, process.platform);
  if (program === undefined) return false;
  refuseSharedFolder(folder);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, "open.html");
  replacePrivateFile(file, leadingTo(url));
  return starts([...program, pathToFileURL(file).href]);
}

/** Undefined when nobody would see it: without a screen, or from another machine. */
export function browserProgram(env: NodeJS.ProcessEnv, platform: NodeJS.Platform): string[] | undefined {
  const chosen = (env["BROWSER"] ?? "").split(":", 1)[0]?.trim() ?? "";
  // A list of words is a program with arguments; no shell reads it.
  if (chosen !== "") return chosen.split(/\s+/).filter((word) => word !== "%s");
  if ((env["SSH_CONNECTION"] ?? "") !== "") return undefined;
  if (platform === "darwin") return ["open"];
  const hasScreen = (env["DISPLAY"] ?? "") !== "" || (env["WAYLAND_DISPLAY"] ?? "") !== "";
  return hasScreen ? ["xdg-open"] : undefined;
}

function leadingTo(url: string): string {
  const address = new URL(url).href.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
  return `<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url=${address}">
<title>Tutti</title>
<a href="${address}">Go on to Tutti</a>
`;
}

/** The program goes on without us. */
function starts([program = "", ...args]: readonly string[]): Promise<boolean> {
  return new Promise((done) => {
    const child = spawn(program, args, { env: { ...process.env, PATH: ownPath() }, stdio: "ignore", detached: true });
    const timer = setTimeout(() => done(true), failsWithinMs);
    child.once("error", () => {
      clearTimeout(timer);
      done(false);
    });
    child.once("exit", (code) => {
      clearTimeout(timer);
      done(code === 0);
    });
    child.unref();
  });
}
