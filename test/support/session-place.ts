// A repository, workspaces and the scripted agent in the sandbox of this machine, for tests of sessions that work in worktrees.

import assert from "node:assert/strict";
import { join } from "node:path";

import type { Answer } from "../../src/protocol/task/ask.ts";
import type { TaskEvent } from "../../src/protocol/task/event.ts";
import type { SessionWorkspaces } from "../../src/runner/shared/session-folder.ts";
import { confineGit } from "../../src/runner/shared/sandbox/confine-git.ts";
import { probeSandbox } from "../../src/runner/shared/sandbox/sandbox-status.ts";
import { openWorkspaces, type WorkspaceStore } from "../../src/workspace/index.ts";
import { type AcpWorld, acpWorld, scriptedProfiles } from "./acp-kit.ts";
import { testRepository, type TestRepository } from "./git-kit.ts";
import { type Cleanup, tempFolder } from "./temp-folder.ts";
import { until } from "./wait-until.ts";

const sandbox = await probeSandbox();
/** Why tests of confined sessions cannot run here; false where they can. */
export const skip = sandbox.confined ? false : sandbox.reason;

export type Saved = Extract<TaskEvent, { type: "session.saved" }>["data"];

export interface SessionPlace {
  readonly world: AcpWorld;
  readonly repository: TestRepository;
  readonly store: WorkspaceStore;
  readonly task: { readonly rights: { readonly tools: "*"; readonly roots: string[] } };
}

export interface PlaceOptions {
  readonly behaviour?: Readonly<Record<string, unknown>>;
  readonly workspaces?: Partial<SessionWorkspaces>;
  readonly repository?: TestRepository;
}

/** The agent keeps its ledger in the folder that it works in. */
export async function sessionPlace(t: Cleanup, options: PlaceOptions = {}): Promise<SessionPlace> {
  const { behaviour = {}, repository = testRepository(t) } = options;
  const store = openWorkspaces(join(tempFolder(t), "state"));
  const workspaces = {
    store,
    commits: "tutti",
    copy: [],
    confine: confineGit(sandbox, []),
    ...options.workspaces,
  } as const;
  const profiles = scriptedProfiles(".", { behaviour, profile: { files: { "login.json": "hunter2" } } });
  const world = await acpWorld(t, { runner: { profiles, sandbox, approvals: [], workspaces } });
  return { world, repository, store, task: { rights: { tools: "*", roots: [repository.folder] } } };
}

/** So that the ledgers of two sessions are no work that conflicts. */
export const ledgerIgnored = { ".gitignore": "ran\nprompts\nstarted\nmodes\nloaded\nsaw\n" };

export async function savedIn(world: AcpWorld): Promise<Saved[]> {
  return (await world.events()).flatMap((event) => (event.type === "session.saved" ? [event.data] : []));
}

/** Answers the ask that is open, once there is one, and gives its question. */
export async function answerNext(world: AcpWorld, given: Answer): Promise<string> {
  const open = await until(async () => {
    const events = await world.events();
    const settled = new Set(events.flatMap((event) => (event.type === "ask.answered" ? [event.data.ask] : [])));
    return events
      .flatMap((event) => (event.type === "ask.raised" ? [event.data.ask] : []))
      .find(({ id }) => !settled.has(id));
  });
  const delivery = await world.engine.deliver(open.id, given, { kind: "person", name: "Ada" });
  assert.equal(delivery.outcome, "accepted", JSON.stringify(delivery));
  return open.question;
}
