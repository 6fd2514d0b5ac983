// A runner as people write it: `KIND`, or `acp:PROFILE[/MODEL]` for a coding agent.

import { TuttiError } from "../error.ts";
import type { ExecutorHint, RunnerConfig } from "./executor.ts";

const pattern = /^([A-Za-z][A-Za-z0-9_-]*)(?::(.*))?$/s;

/** Throws `usage` for a text that names no runner. Whether there is such a runner, and can use its config, is found out later. */
export function parseRunnerRef(text: string): RunnerConfig {
  const [, kind, rest] = pattern.exec(text.trim()) ?? [];
  if (kind === undefined) throw new TuttiError("usage", `${text} names no runner; write KIND or acp:PROFILE[/MODEL]`);
  if (rest === undefined) return { kind, config: {} };
  if (kind !== "acp") throw new TuttiError("usage", `only acp takes a profile after a colon; write ${kind} alone`);
  const slash = rest.indexOf("/");
  const profile = slash === -1 ? rest : rest.slice(0, slash);
  const model = slash === -1 ? undefined : rest.slice(slash + 1);
  if (profile === "" || model === "") {
    throw new TuttiError("usage", `${text} is incomplete; write acp:PROFILE or acp:PROFILE/MODEL, such as acp:claude`);
  }
  return { kind, config: { profile, ...(model === undefined ? {} : { model }) } };
}

/** As `parseRunnerRef` reads it. */
export function runnerName({ kind, config }: RunnerConfig): string {
  const { profile, model }: { profile?: unknown; model?: unknown } = Object(config);
  if (typeof profile !== "string") return kind;
  return typeof model === "string" ? `${kind}:${profile}/${model}` : `${kind}:${profile}`;
}

/** The same runner, working in such a workspace. Throws `usage` for a runner that has none. */
export function withWorkspace({ kind, config }: RunnerConfig, workspace: object): RunnerConfig {
  if (kind === "local" || kind === "acp") return { kind, config: { ...Object(config), workspace } };
  throw new TuttiError("usage", `only agents and coding agents work in a workspace; the runner ${kind} has none`);
}

/** The part of an invocation that forces the runner; nothing when there is none to force. */
export function forcedTo(runner: RunnerConfig | undefined): { readonly executor?: ExecutorHint } {
  if (runner === undefined) return {};
  if (runner.kind === "local") {
    const { workspace }: { workspace?: unknown } = Object(runner.config);
    return { executor: { kind: "force", type: "local", ...(workspace === undefined ? {} : { workspace }) } };
  }
  return { executor: { kind: "force", type: "remote", runner } };
}
