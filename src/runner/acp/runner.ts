// The runner `acp`: its task is done by a coding agent that speaks the Agent Client Protocol, in a session of its own.

import { join } from "node:path";

import { z } from "zod";

import type { AgentEnvironment } from "../../agent/agent-environment.ts";
import { baseAgent, findAgent } from "../../agent/delegation/find-agent.ts";
import { TaskInput, treeFile } from "../../agent/delegation/task-input.ts";
import { approvalOutcome, type ApprovalSource, decideCalls } from "../../core/approval.ts";
import { inLine, quotedCommand } from "../../core/foreign-words.ts";
import { TuttiError } from "../../protocol/error.ts";
import { Answer } from "../../protocol/task/ask.ts";
import { Message, userMessage } from "../../protocol/task/message.ts";
import type { Durable, Runner } from "../../ports.ts";
import { removeHome } from "../shared/confined-program.ts";
import type { SandboxStatus } from "../shared/sandbox/sandbox-status.ts";
import { isStopped, workAndSave, type WorkPlace } from "../shared/save-work.ts";
import { beginInFolder, openSessionFolder, type SessionWorkspaces } from "../shared/session-folder.ts";
import { beginsAsPersons, type SetupCommand, setUpWorkspace } from "../shared/set-up.ts";
import { readAcpConfig } from "./config.ts";
import { stepToEnd } from "../shared/step-to-end.ts";
import { agentRef, askIfHeldBack, type Breaker, noteFailure, type Watched } from "./breaker.ts";
import { installedAgents, waitForAgent, waitForAnyAgent } from "./installed-agents.ts";
import { homeName } from "./old-homes.ts";
import type { LaunchOptions } from "./session-launch.ts";
import { profileOf, type Profiles } from "./profile.ts";
import { runSession, type SessionOptions } from "./session.ts";
import { defaultTimes, newSession, SessionOutcome, SessionState, type SessionTimes } from "./kept-session.ts";
import {
  agreeToSettings,
  settingsOrigin,
  settingsToCover,
  type SettingsTrust,
  type TrustedSettings,
} from "./workspace-settings.ts";
import type { UpdateLimits } from "./session-updates.ts";

export interface AcpRunnerOptions {
  readonly profiles: Profiles;
  /** The rules of the user and of the project. */
  readonly approvals?: AgentEnvironment["approvals"];
  readonly sandbox: SandboxStatus;
  /** Folders that no session may see, such as the state folder. */
  readonly offLimits?: readonly string[];
  /** The folder in which each session gets a home folder of its own. */
  readonly homes: string;
  /** Folders with programs that a confined session may read, although they are in a home folder. */
  readonly toolchains?: readonly string[];
  /** What people agreed to of the settings for agents that a workspace has itself; nothing when absent. */
  readonly trustedSettings?: TrustedSettings;
  /** Absent where sessions work in the task's folder itself. */
  readonly workspaces?: SessionWorkspaces;
  /** Absent where no agent is ever held back. */
  readonly breaker?: Breaker;
  readonly times?: Partial<SessionTimes>;
  readonly limits?: UpdateLimits;
  /** There are other machines: a task whose agent is not installed here waits for one that has it. */
  readonly mayBeElsewhere?: boolean;
}

/** How often a session is taken up again after its process was cut off. */
const mostProcesses = 8;

export function acpRunner(options: AcpRunnerOptions): Runner {
  return async (durable, rawConfig) => {
    const { profile: wanted, model, workspace: wantedWorkspace } = readAcpConfig(rawConfig);
    if (options.mayBeElsewhere === true && wanted === undefined) await waitForAnyAgent(options.profiles);
    const name = wanted ?? (await installedProfile(durable, options.profiles));
    const profile = profileOf(options.profiles, name);
    if (options.mayBeElsewhere === true) await waitForAgent(name, profile);
    const watched = { breaker: options.breaker, agent: agentRef(name, model) };
    await askIfHeldBack(durable, watched);
    const { offLimits = [], toolchains = [], workspaces } = options;
    const opened = await openSessionFolder(durable, { offLimits, workspaces, wanted: wantedWorkspace });
    const { workspace, folder, warnings } = opened;
    // An attempt that goes on with a stopped one finds the agent's own records there.
    const home = join(options.homes, homeName(durable.task, durable.since));
    const hidden = offLimits;
    const launch = { name, profile, model, folder, home, sandbox: options.sandbox, hidden, toolchains };
    const { sources, prompt, instructions: own } = taskOf(durable, options.approvals ?? []);
    const instructions = [own, opened.instructions].filter((text) => text.trim() !== "").join("\n\n");
    await approveUnconfined(durable, { ...launch, setup: workspaces?.setup ?? [] }, sources);
    const settings = { trusted: options.trustedSettings, origin: settingsOrigin(opened) };
    await agreeToSettings(durable, launch, settings);
    const times = { ...defaultTimes, ...options.times };
    const session = {
      launch,
      settings,
      agent: durable.agent,
      prompt,
      instructions,
      sources,
      times,
      limits: options.limits,
      watched,
    };
    if (workspaces === undefined || workspace === undefined) return converse(durable, session);
    // A shared folder is the person's own, who has set it up; a stopped attempt has been set up before.
    if (workspace.mode !== "shared" && !durable.resumed) {
      const covered = await settingsToCover(launch, settings);
      await setUpWorkspace(
        durable,
        { ...launch, covered },
        {
          commands: workspaces.setup ?? [],
          workspace,
          cache: workspaces.setupCache,
          isPersons: beginsAsPersons(wantedWorkspace),
        },
      );
    }
    const place = { workspaces, workspace, warnings };
    const launchNow = async (): Promise<LaunchOptions> => ({
      ...session.launch,
      covered: await settingsToCover(session.launch, session.settings),
    });
    const saving = { ...place, prompt, launch: launchNow, tool: `acp:${name}`, sources };
    return workAndSave(durable, saving, () => converse(durable, { ...session, place }));
  };
}

interface NewSession extends Omit<SessionOptions, "state" | "save"> {
  readonly watched: Watched;
  readonly settings: SettingsTrust;
  readonly place?: WorkPlace;
}

/** Goes on with the same session in another process after one was cut off, where the agent can. */
async function converse(durable: Durable, session: NewSession): Promise<string> {
  const { watched, ...options } = session;
  const { name, home } = session.launch;
  const stopped = durable.stoppedState(SessionState);
  let state = (await durable.restore(SessionState))?.state ?? (stopped === undefined ? newSession : taken(stopped));
  const save = (changed: SessionState): void => {
    state = changed;
    saved += 1;
    durable.save(`state:${changed.process}.${saved}`, changed);
  };
  let saved = 0;
  try {
    for (let process = state.process; ; process += 1) {
      const outcome = await oneProcess(durable, { ...options, state: { ...state, process }, save }).catch(
        async (thrown: unknown) => {
          if (canGoOn(thrown, state) && process < mostProcesses) return undefined;
          await noteFailure(durable, watched, thrown);
          throw unknownOutcome(thrown, name);
        },
      );
      if (outcome === undefined) continue;
      if (outcome.kind === "done") {
        watched.breaker?.cleared(watched.agent);
        return outcome.text;
      }
      if (outcome.kind === "limit") await park(durable, { process, until: outcome.until, name });
      if (state.prompts > 0 && !(state.load && state.session !== null)) {
        const reason = `${name} was stopped in the middle of its work and cannot take its session up again`;
        await durable.again(`again${process}`, { reason, outcome: "unknown" });
      }
    }
  } finally {
    // A session that goes on at the next start needs its home.
    if (!isStopped(durable)) await removeHome(home);
  }
}

/** The session of a stopped attempt, for the first process of the next one. One that cannot be loaded begins anew. */
function taken(stopped: SessionState): SessionState {
  return stopped.load && stopped.session !== null ? { ...stopped, process: 1 } : newSession;
}

async function oneProcess(
  durable: Durable,
  { place, settings, ...options }: SessionOptions & Pick<NewSession, "place" | "settings">,
): Promise<SessionOutcome> {
  const { profile } = options.launch;
  return stepToEnd(
    durable,
    {
      key: `session${options.state.process}`,
      repeatable: false,
      schema: SessionOutcome,
      // An agent that does not say what it spends is asked about first, like a model of unknown price.
      ...(profile.metered ? {} : { reserve: { input_tokens: 0, output_tokens: 0, money_micro_usd: null } }),
    },
    async (step) => {
      const launch = { ...options.launch, covered: await settingsToCover(options.launch, settings) };
      if (place === undefined) return runSession(step, { ...options, launch });
      const git = await beginInFolder(place.workspaces, place.workspace);
      return runSession(step, { ...options, launch: { ...launch, folder: { ...launch.folder, git } } });
    },
  );
}

/** A prompt that was not delivered can be sent by another process; one that was, only where the session itself goes on. */
function canGoOn(thrown: unknown, { prompts, load, session }: SessionState): boolean {
  if (!(thrown instanceof TuttiError) || thrown.code !== "outcome_unknown") return false;
  // The next process would be refused as well.
  if (thrown.details?.["load_refused"] === true) return false;
  return prompts === 0 || (load && session !== null);
}

function unknownOutcome(thrown: unknown, name: string): unknown {
  if (!(thrown instanceof TuttiError) || thrown.code !== "outcome_unknown") return thrown;
  const message = `the session of ${name} was cut off, and ${name} cannot take it up again; part of its work may have been done`;
  return new TuttiError("outcome_unknown", message, { cause: thrown, retry: "unknown" });
}

interface Parking {
  readonly process: number;
  readonly until: number;
  readonly name: string;
}

/** An ask, so that everybody sees why the task rests, and its time does not count. */
async function park(durable: Durable, { process, until, name }: Parking): Promise<void> {
  const within = Math.max(0, until - (await durable.now(`parked${process}.now`)));
  const waited = await durable.wait(`parked${process}`, {
    ask: {
      kind: "question",
      question: `${name} has reached its usage limit. The task goes on by itself at ${new Date(until).toISOString()}. Go on now, or stop?`,
      choices: ["go on now", "stop"],
    },
    within,
    schema: Answer,
  });
  if ("value" in waited && waited.value.kind === "question" && waited.value.value === "stop") {
    throw new TuttiError("task_failed", `${name} had reached its usage limit, and the task was not to wait for it`);
  }
}

/** Recorded, so that a restart goes on with the same agent. */
async function installedProfile(durable: Durable, profiles: Profiles): Promise<string> {
  const found = await durable.step("profile", { repeatable: true, schema: z.string().nullable(), looks: true }, () =>
    firstInstalled(profiles),
  );
  if (found !== null) return found;
  const known = Object.entries(profiles).map(
    ([name, { install }]) => `${name}${install === undefined ? "" : ` (${install})`}`,
  );
  throw new TuttiError("not_found", `no coding agent is installed; there are profiles for: ${known.join(", ")}`);
}

async function firstInstalled(profiles: Profiles): Promise<string | null> {
  const [first] = await installedAgents(profiles);
  return first ?? null;
}

/** Nothing holds an unconfined session back from anything its user could do, so launching one is a person's decision. */
async function approveUnconfined(
  durable: Durable,
  { name, profile, folder, sandbox, setup }: LaunchOptions & { readonly setup: readonly SetupCommand[] },
  sources: readonly ApprovalSource[],
): Promise<void> {
  if (sandbox.confined) return;
  const effect = { effects: ["execute", "network"], confined: false } as const;
  const [judgement] = decideCalls([{ tool: `acp:${name}`, effect }], sources);
  if (judgement === undefined || judgement.verdict === "run") return;
  if (judgement.verdict === "refuse") throw new TuttiError("refused", `${name} was not started: ${judgement.reason}`);
  const question = [
    `May ${inLine(durable.agent)} start ${name} unconfined? It can read and change every file of this user and use the network, and nothing but ${name} itself asks before it does.`,
    "command:",
    quotedCommand(profile.command),
    ...setup.flatMap(({ command }) => ["before it:", quotedCommand(command)]),
    `folder: ${inLine(folder.cwd)}`,
    `why it is not confined: ${inLine(`${sandbox.reason}; ${sandbox.advice}`)}`,
  ].join("\n");
  const waited = await durable.wait("unconfined.approval", {
    ask: {
      kind: "approval",
      question,
      details: { profile: name, command: profile.command, reason: judgement.reason, rule: judgement.rule },
    },
    schema: Answer,
  });
  const outcome = approvalOutcome(waited);
  if (!outcome.approved) throw new TuttiError("refused", `${name} was not started: ${outcome.reason}`);
}

interface SessionTask {
  readonly sources: readonly ApprovalSource[];
  readonly prompt: Message;
  readonly instructions: string;
}

const PlainInput = z.object({ message: Message });

/** An agent of a tree has instructions and rules of its own; the input of any other task is its prompt. */
function taskOf(durable: Durable, approvals: readonly ApprovalSource[]): SessionTask {
  const input = TaskInput.safeParse(durable.input).data;
  if (input === undefined) {
    const plain = PlainInput.safeParse(durable.input).data?.message ?? Message.safeParse(durable.input).data;
    const prompt =
      plain ?? userMessage(typeof durable.input === "string" ? durable.input : JSON.stringify(durable.input));
    return { sources: approvals, prompt, instructions: "" };
  }
  const file = treeFile(durable.rootInput);
  const sources = [...approvals];
  if (file.approvals !== undefined) sources.push({ from: "invocation", rules: file.approvals });
  const agent = findAgent(file, input.agent);
  const own = agent?.definition.approvals;
  if (own !== undefined) sources.push({ from: "agent", rules: own });
  // The base instructions speak of tools that a session does not have.
  const given = input.agent.type === "ad_hoc" ? input.agent.system_prompt : agent?.instructions;
  const instructions = agent?.id === baseAgent ? "" : (given ?? "");
  return { sources, prompt: input.message, instructions };
}
