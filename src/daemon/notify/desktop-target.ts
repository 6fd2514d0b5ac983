// Notices on the desktop of whoever runs the service, where there is one.

import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";

import type { Environment } from "../../model/resolve-model.ts";
import type { ProgramContext } from "./command-target.ts";
import type { Notice } from "./notice.ts";
import { runProgram } from "./run-program.ts";
import type { Target } from "./target.ts";

const timeoutMs = 10_000;
/** Later it has been seen elsewhere, or is not news. */
const maxAgeMs = 10 * 60 * 1000;

/** Undefined when there is nothing to show notices with or, unless `always`, nobody at a desktop to see them. */
export function desktopTarget(
  { env, clock }: Pick<ProgramContext, "env" | "clock">,
  { always, platform = process.platform }: { readonly always: boolean; readonly platform?: NodeJS.Platform },
): Target | undefined {
  const name = platform === "darwin" ? "osascript" : "notify-send";
  const program = platform === "win32" ? undefined : programIn(env, name);
  if (program === undefined || (!always && !hasDesktop(env, platform))) return undefined;
  return {
    name: "desktop",
    maxTries: 1,
    maxAgeMs,
    claimed: true,
    async send(notice, _body, signal) {
      const argv = [program, ...(platform === "darwin" ? scriptFor(notice) : argumentsFor(notice))];
      const { problem } = await runProgram(argv, { env, input: "", timeoutMs, clock, signal });
      return problem === undefined ? { outcome: "delivered" } : { outcome: "failed", reason: problem };
    },
  };
}

function hasDesktop(env: Environment, platform: NodeJS.Platform): boolean {
  if (platform === "darwin") return env["SSH_CONNECTION"] === undefined;
  return [env["DISPLAY"], env["WAYLAND_DISPLAY"]].some((display) => display !== undefined && display !== "");
}

/** Its body is markup. */
function argumentsFor({ title, text, kind }: Notice): string[] {
  const escaped = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  return ["--app-name=Tutti", `--urgency=${kind === "finished" ? "low" : "normal"}`, "--", title, escaped];
}

/** The words are arguments of the script, never part of it. */
function scriptFor({ title, text }: Notice): string[] {
  const lines = ["on run argv", "display notification (item 2 of argv) with title (item 1 of argv)", "end run"];
  return [...lines.flatMap((line) => ["-e", line]), "--", title, text];
}

function programIn(env: Environment, name: string): string | undefined {
  const folders = (env["PATH"] ?? "").split(delimiter).filter((folder) => folder.startsWith("/"));
  return folders
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
