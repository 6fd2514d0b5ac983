// The runner `local`: runs the agent's loop in this process, in the task's folders or in a workspace of its own.

import { join } from "node:path";

import { agentEnvironment, type AgentEnvironment } from "../../agent/agent-environment.ts";
import { TaskInput } from "../../agent/delegation/task-input.ts";
import { agentLoop } from "../../agent/loop/loop.ts";
import { approvalOutcome, decideCalls } from "../../core/approval.ts";
import { inLine, quotedCommand } from "../../core/foreign-words.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { InvocationFile } from "../../protocol/invocation/invocation-file.ts";
import { Answer } from "../../protocol/task/ask.ts";
import type { Durable, Runner } from "../../ports.ts";
import type { Model } from "../../model-port.ts";
import { readRecord, type Workspace, type WorkspaceId } from "../../workspace/index.ts";
import { homeName } from "../acp/old-homes.ts";
import { type ProgramPlace, removeHome } from "../shared/confined-program.ts";
import { workAndSave } from "../shared/save-work.ts";
import { openSessionFolder, type SessionWorkspaces } from "../shared/session-folder.ts";
import { beginsAsPersons, type SetupCommand, setUpWorkspace } from "../shared/set-up.ts";
import type { WantedWorkspace } from "../shared/wanted-workspace.ts";
import { readLocalConfig } from "./config.ts";
import { inWorkspace } from "./mapped-durable.ts";

export interface LocalRunnerOptions extends Partial<AgentEnvironment> {
  readonly model: (file: InvocationFile) => Model;
  /** Absent where agents can only work in their task's folders themselves. */
  readonly workspaces?: SessionWorkspaces;
  /** How the commands run that set a workspace up, and the person's commit hooks. */
  readonly setUp?: Pick<ProgramPlace, "sandbox" | "toolchains"> & {
    /** The folder in which they get a home folder. */
    readonly homes: string;
  };
}

export function localRunner(options: LocalRunnerOptions): Runner {
  const environment = agentEnvironment(options);
  const models = new WeakMap<InvocationFile, Model>();
  const model = (file: InvocationFile): Model => {
    const known = models.get(file) ?? options.model(file);
    models.set(file, known);
    return known;
  };
  return async (durable, config) => {
    const { model: modelName, fallback_models: nextModels, workspace: wanted, within } = readLocalConfig(config);
    const loop = (port: Durable): Promise<unknown> => agentLoop(port, { model, environment, modelName, nextModels });
    if (within !== undefined) return loop(inWorkspace(durable, workspaceOf(options.workspaces, within)));
    if (wanted === undefined) return loop(durable);
    return workInWorkspace(durable, { wanted, options, environment }, loop);
  };
}

interface Wanted {
  readonly wanted: WantedWorkspace;
  readonly options: LocalRunnerOptions;
  readonly environment: AgentEnvironment;
}

async function workInWorkspace(
  durable: Durable,
  { wanted, options, environment }: Wanted,
  loop: (port: Durable) => Promise<unknown>,
): Promise<unknown> {
  const { workspaces } = options;
  if (workspaces === undefined || options.setUp === undefined) throw noWorkspaces();
  const { offLimits } = environment;
  const opened = await openSessionFolder(durable, { offLimits, workspaces, wanted });
  const { workspace, folder, warnings, instructions } = opened;
  if (workspace === undefined) throw noWorkspaces();
  const { sandbox, toolchains, homes } = options.setUp;
  const home = join(homes, homeName(durable.task, durable.since));
  const place = { folder, home, sandbox, toolchains, hidden: offLimits };
  const setup = workspaces.setup ?? [];
  // A shared folder is the person's own, who has set it up; an earlier run or a stopped attempt has been set up before.
  if (workspace.mode !== "shared" && !durable.resumed && durable.run === 1 && setup.length > 0) {
    await approveSetup(durable, { ...place, setup, environment });
    try {
      await setUpWorkspace(durable, place, {
        commands: setup,
        workspace,
        cache: workspaces.setupCache,
        isPersons: beginsAsPersons(wanted),
      });
    } finally {
      await removeHome(home);
    }
  }
  const { message: prompt } = TaskInput.parse(durable.input);
  const saving = {
    workspaces,
    workspace,
    warnings,
    prompt,
    launch: () => place,
    tool: "local",
    sources: environment.approvals,
  };
  return workAndSave(durable, saving, () => loop(inWorkspace(durable, workspace, instructions)));
}

function workspaceOf(workspaces: SessionWorkspaces | undefined, id: WorkspaceId): Workspace {
  const found = workspaces === undefined ? undefined : readRecord(workspaces.store, id);
  if (found?.state === "ready") return found;
  throw new TuttiError("not_found", `the workspace ${id} of the calling task is no longer there`);
}

function noWorkspaces(): TuttiError {
  return new TuttiError(
    "refused",
    "an agent cannot have a workspace here; leave out `workspace` in its runner's config",
  );
}

/** Nothing holds an unconfined command back from anything its user could do, so running one is a person's decision. */
async function approveSetup(
  durable: Durable,
  {
    setup,
    environment,
    sandbox,
    folder,
  }: Pick<ProgramPlace, "sandbox" | "folder"> & {
    readonly setup: readonly SetupCommand[];
    readonly environment: AgentEnvironment;
  },
): Promise<void> {
  if (sandbox.confined) return;
  const effect = { effects: ["execute", "network"], confined: false } as const;
  const [judgement] = decideCalls([{ tool: "workspace.setup", effect }], environment.approvals);
  if (judgement === undefined || judgement.verdict === "run") return;
  if (judgement.verdict === "refuse")
    throw new TuttiError("refused", `the workspace was not set up: ${judgement.reason}`);
  const question = [
    `May the workspace of ${inLine(durable.agent)} be set up unconfined? The commands can do whatever this user can.`,
    ...setup.flatMap(({ command }) => ["command:", quotedCommand(command)]),
    `folder: ${inLine(folder.cwd)}`,
    `why it is not confined: ${inLine(`${sandbox.reason}; ${sandbox.advice}`)}`,
  ].join("\n");
  const waited = await durable.wait("setup.approval", {
    ask: { kind: "approval", question, details: { commands: setup, reason: judgement.reason, rule: judgement.rule } },
    schema: Answer,
  });
  const outcome = approvalOutcome(waited);
  if (!outcome.approved) throw new TuttiError("refused", `the workspace was not set up: ${outcome.reason}`);
}
