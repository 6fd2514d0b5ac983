// What `tutti init` found in a project and on the machine, as rows for people.
import type { InitResult } from "../host/project.ts";
import { argvLine } from "../protocol/argv-line.ts";
import { printableName } from "./terminal/printable.ts";
import { dim } from "./terminal/style.ts";

export function foundLines({ model, providers, servers, agents, checks, setup }: InitResult): string[] {
  const line = (name: string, value: string): string => `  ${dim(name.padEnd(13))} ${value}`;
  const keys = providers.map(
    ({ name, key_from }) => `${name} (${key_from === "login" ? "logged in" : "key in the environment"})`,
  );
  const local = servers.map(
    ({ name, models }) => `${name} on this machine (${models.slice(0, 3).join(", ")}${models.length > 3 ? ", …" : ""})`,
  );
  const isListed = [...providers, ...servers].some(({ name }) => model?.startsWith(`${name}/`) === true);
  const own = model === null || isListed ? [] : [`${model} (in your config)`];
  const found = [...own, ...keys, ...local].map(printableName);
  return [
    line("models", found.length === 0 ? "none; work is rehearsed from scripts until there is one" : found.join("; ")),
    line("coding agents", agents.length === 0 ? "none is installed" : agents.map((name) => `acp:${name}`).join(", ")),
    ...(checks.length === 0
      ? [line("checks", "none was found; without one, only a review or your word proves a task")]
      : []),
    ...checks.map(({ name, run, from, doubt }) =>
      line("check", `${printableName(name)}: ${commandText(run, from, doubt)}`),
    ),
    ...setup.map(({ run, from, doubt }) => line("setup", commandText(run, from, doubt))),
  ];
}

function commandText(run: readonly string[], from: string, doubt: string | null): string {
  const why = doubt === null ? `from ${from}` : `from ${from}; only a comment in the config: ${doubt}`;
  return `${argvLine(run)} ${dim(`(${printableName(why)})`)}`;
}
