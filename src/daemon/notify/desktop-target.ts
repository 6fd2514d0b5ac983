// Shows notices on the desktop of the user who runs the daemon, if there is one.

import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";

import { ownPath } from "../../files/own-environment.ts";
import type { Environment } from "../../model/resolve-model.ts";
import type { ProgramContext } from "./command-target.ts";
import type { Notice } from "./notice.ts";
import { runProgram } from "./run-program.ts";
import type { Target } from "./target.ts";

const timeoutMs = 10_000;
/** An older notice is no news any more. */
const maxAgeMs = 10 * 60 * 1000;

/** Returns undefined if there is no program that shows notices or, unless `always`, no desktop to show them on. */
export function desktopTarget(
  { env, clock }: Pick<ProgramContext, "env" | "clock">,
  { always, platform = process.platform }: { readonly always: boolean; readonly platform?: NodeJS.Platform },
): Target | undefined {
  const name = platform === "darwin" ? "osascript" : "notify-send";
  const program = platform === "win32" ? undefined : findProgram(env, name);
  if (program === undefined || (!always && !hasDesktop(env, platform))) return undefined;
  return {
    name: "desktop",
    maxTries: 1,
    maxAgeMs,
    recordsTryFirst: true,
    async send(notice, _body, signal) {
      const argv = [program, ...(platform === "darwin" ? osascriptArguments(notice) : notifySendArguments(notice))];
      const { problem } = await runProgram(argv, { env, input: "", timeoutMs, clock, signal });
      return problem === undefined ? { outcome: "delivered" } : { outcome: "failed", reason: problem };
    },
  };
}

function hasDesktop(env: Environment, platform: NodeJS.Platform): boolean {
  if (platform === "darwin") return env["SSH_CONNECTION"] === undefined;
  return [env["DISPLAY"], env["WAYLAND_DISPLAY"]].some((display) => display !== undefined && display !== "");
}

/** notify-send reads the text as markup, so it is escaped. */
function notifySendArguments({ title, text, kind }: Notice): string[] {
  const escaped = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  return ["--app-name=Tutti", `--urgency=${kind === "finished" ? "low" : "normal"}`, "--", title, escaped];
}

/** Title and text are arguments of the script and never part of it, so they cannot run as AppleScript. */
function osascriptArguments({ title, text }: Notice): string[] {
  const lines = ["on run argv", "display notification (item 2 of argv) with title (item 1 of argv)", "end run"];
  return [...lines.flatMap((line) => ["-e", line]), "--", title, text];
}

function findProgram(env: Environment, name: string): string | undefined {
  return ownPath(env["PATH"] ?? "")
    .split(delimiter)
    .filter((folder) => folder !== "")
    .map((folder) => join(folder, name))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK);
        return statSync(path).isFile();
      } catch {
        return false;
      }
    });
}
