// The interface of a project: its agents, its models, and a check that everything it needs is there.

import type { PolicyProblem } from "../protocol/routing/read-policy-file.ts";
import type { Policy } from "../protocol/routing/policy.ts";
import type { AgentProblem, AgentView, ModelView, RunnerView } from "../protocol/api/catalog.ts";
import type { Effort } from "../protocol/invocation/call-settings.ts";
import type { ErrorCode } from "../protocol/error.ts";
import type { RunnerConfig } from "../protocol/invocation/executor.ts";

export interface ProjectAgents {
  readonly agents: readonly AgentView[];
  readonly problems: readonly AgentProblem[];
}

/** A routing policy as it was given. */
export interface GivenPolicy {
  readonly file: string;
  readonly text: string;
}

export interface RunRequest {
  readonly agent: string;
  readonly prompt: string;
  readonly folder: string;
  readonly model?: string | undefined;
  /** Runs the agent instead of the runner that its definition names. */
  readonly runner?: RunnerConfig | undefined;
  /** The policy that chose the model or the runner. The coding agents that it names must have a profile. */
  readonly policy?: GivenPolicy | undefined;
  /** The workspace of the task, in the form that the runner reads. */
  readonly workspace?: object | undefined;
  readonly effort?: Effort | undefined;
  /** A rehearsal script, JSON. */
  readonly script?: string | undefined;
  /** Plays a built-in script when no model is set up and no script is given. */
  readonly rehearse: boolean;
}

export interface PreparedRun {
  /** The text for `Tutti.invoke`, with every agent's definition as it is now. */
  readonly text: string;
  readonly model: string;
  /** The replies come from a script and no model is called. */
  readonly rehearsal: boolean;
  /** Why the project's config was not used for this; undefined when it was, or when there is none. */
  readonly problem?: string | undefined;
}

/** The config of a project as it is now. */
export interface ConfigView {
  /** The folder it is in. */
  readonly folder: string;
  readonly file: string;
  readonly hash: string;
  /** The config and what it imports, relative to the folder. */
  readonly files: readonly string[];
  /** The installed packages it imports. */
  readonly packages: readonly string[];
  readonly trusted: boolean;
  /** What a JSON config sets; code must run before anybody knows. */
  readonly sets: unknown;
  /** The MCP servers that a JSON config declares, with all of their settings, a line each. */
  readonly servers: readonly string[];
}

/** What a trusted config sets. */
export interface ConfigSettings {
  readonly tools: readonly { readonly name: string; readonly effects: readonly string[] }[];
  /** The kinds of the runners that it registers. */
  readonly runners: readonly string[];
  readonly approvals: unknown;
  readonly providers: readonly string[];
  readonly default_model: string | null;
  /** How workspaces of the project are made. */
  readonly workspaces: unknown;
  /** The checks of tasks, which run without anybody being asked. */
  readonly checks: readonly { readonly name: string; readonly run: string | readonly string[] }[];
}

/** The policy file of a project as it is now. */
export interface PolicyFileView {
  readonly file: string;
  readonly hash: string;
  readonly trusted: boolean;
  readonly problems: readonly PolicyProblem[];
}

/** The policy that a goal which starts now would keep. */
interface PolicyView {
  readonly policy: Policy;
  readonly text: string;
  readonly hash: string;
  /** `default`: nobody wrote it; it is made from the models that can be called. */
  readonly source: "project" | "default";
  readonly file: string | null;
}

/** A model that a policy names. */
export interface PolicyModelCheck {
  /** The field, such as `policy.build`. */
  readonly where: string;
  /** Null when the file does not have the field. */
  readonly line: number | null;
  readonly model: string;
  /** Whether it can run here. */
  readonly ok: boolean;
  readonly said: string;
}

export interface PolicyCheck {
  /** Whether the policy can be used and every model that it names can run here. */
  readonly ok: boolean;
  readonly file: string | null;
  /** Undefined when it cannot be used. */
  readonly policy: Policy | undefined;
  readonly problems: readonly PolicyProblem[];
  readonly models: readonly PolicyModelCheck[];
  /** Why the project's config was not used. */
  readonly problem: string | undefined;
}

export interface InitOptions {
  /** Replaces what an earlier `init` wrote. */
  readonly force: boolean;
  /** Writes nothing. */
  readonly dryRun: boolean;
  /** What the person was shown and agreed to: nothing is written (`conflict`) when it is no longer what would be written. */
  readonly shown?: readonly WrittenFile[];
  readonly signal: AbortSignal;
  /** The servers that are looked for on this machine; those that are known when absent. */
  readonly servers?: readonly { readonly name: string; readonly port: number }[];
}

export interface WrittenFile {
  readonly file: string;
  readonly state: "written" | "replaced" | "kept" | "left out";
  /** Why it was kept or left out. */
  readonly why: string;
  /** What was written; null when nothing was. */
  readonly text: string | null;
}

/** A command that was found in a file of the project. */
interface FoundCommand {
  readonly run: readonly string[];
  readonly from: string;
  /** Why it is only a comment in the config; null when it counts. */
  readonly doubt: string | null;
}

export interface SetupOfferOptions {
  /** Whether the checks of the project are wanted; false when the person named one. */
  readonly checks: boolean;
  readonly signal: AbortSignal;
}

/** What `init` found and wrote. */
export interface InitResult {
  readonly folder: string;
  /** The config, then the policy. */
  readonly files: readonly WrittenFile[];
  /** The model of agents that name none; null when there is none, and work is rehearsed. */
  readonly model: string | null;
  /** The providers that have a key, and where it comes from. */
  readonly providers: readonly { readonly name: string; readonly key_from: string | null }[];
  /** Servers with models on this machine. */
  readonly servers: readonly { readonly name: string; readonly base_url: string; readonly models: readonly string[] }[];
  /** The coding agents that are installed, by the names of their profiles. */
  readonly agents: readonly string[];
  readonly checks: readonly (FoundCommand & { readonly name: string })[];
  readonly setup: readonly FoundCommand[];
  /** The policy that was written, or would be if there was none. */
  readonly policy: Policy;
  /** Whether the folder is a git repository. */
  readonly git: boolean;
}

export interface TrustedConfig {
  readonly folder: string;
  /** `none` for a project without a config, `policy:…` for a policy. */
  readonly hash: string;
  readonly at: number;
  /** Who agreed; known in a cluster. */
  readonly by?: string | undefined;
}

/** Files of the person's repository that tell coding agents what to run: hooks, servers, plugins. */
export interface AgentSettingsView {
  /** The top of the repository, or the folder itself. */
  readonly project: string;
  readonly files: readonly {
    /** Relative to the project. */
    readonly path: string;
    readonly text: string;
    /** Null when the whole content cannot be read: nobody can agree to it. */
    readonly hash: string | null;
    readonly trusted: boolean;
  }[];
}

/** One file with settings for coding agents, in one version. */
export interface TrustedSetting extends TrustedConfig {
  readonly path: string;
}

/** An MCP server that was agreed to. The folder is empty for one of the user's own config. */
export interface TrustedServer extends TrustedConfig {
  readonly server: string;
  /** How many tools were agreed to. */
  readonly tools: number;
}

interface ServerToolView {
  readonly name: string;
  /** In the words of the server. */
  readonly description: string;
}

/** An MCP server of a project as it is declared now. */
export interface ServerView {
  readonly name: string;
  /** Where it is declared. */
  readonly from: string;
  readonly hash: string;
  /** All of its settings, one a line: what is agreed to. */
  readonly settings: readonly string[];
  /** Whether these hold characters that cannot be seen, which are written as escapes. */
  readonly invisible: boolean;
  readonly state: "trusted" | "not trusted" | "changed" | "tools changed" | "refused";
  /** Whether there is a login; null for a program, which one does not log in to. */
  readonly login: boolean | null;
  /** Those it offers, as far as they are known; null before it was first started. */
  readonly tools: readonly ServerToolView[] | null;
}

export interface ServersView {
  readonly servers: readonly ServerView[];
  /** What cannot be used, one sentence each. */
  readonly problems: readonly string[];
}

/** A server that was agreed to and started. */
export interface TriedServer {
  readonly name: string;
  /** Null when it could not be started. */
  readonly tools: readonly ServerToolView[] | null;
  readonly problems: readonly string[];
}

/** Where a login at an MCP server would go. */
export interface LoginQuestion {
  /** The origin of the server, which names the issuer. */
  readonly server: string;
  readonly issuer: string;
  /** What the issuer says of its endpoints; absent as long as it was not asked. */
  readonly endpoints?: {
    readonly authorization: string;
    readonly token: string;
    readonly registration?: string;
  };
}

export interface ServerLogin {
  /** The authorization server that the person named beforehand: it needs no confirmation, and any other is refused. */
  readonly issuer?: string;
  /** Asks the person whether the login may go there. */
  readonly confirm: (question: LoginQuestion) => Promise<boolean>;
  readonly onUrl: (url: string) => Promise<void>;
  readonly signal: AbortSignal;
}

export interface Finding {
  readonly what: string;
  readonly state: "ok" | "warn" | "fail";
  readonly said: string;
  /** What to do about it. */
  readonly todo?: string;
  /** Of a finding that fails. */
  readonly code?: ErrorCode;
}

/** One part of what a model was tried for. */
export interface TriedView {
  readonly part: string;
  readonly outcome: "works" | "absent" | "fails";
  readonly said: string;
  readonly took_ms: number;
  readonly tokens: number;
  /** Null when the price is not known. */
  readonly money_micro_usd: number | null;
}

export interface TryModelOptions {
  readonly signal: AbortSignal;
  /** Called as soon as each part was tried. */
  readonly onTried: (tried: TriedView) => Promise<void>;
  /** Called if the project's config is not used, with the reason. */
  readonly onProblem: (problem: string) => void;
}

export interface Project {
  readonly folder: string;
  agents(): Promise<ProjectAgents>;
  /** Calls `onChange` whenever an agent changes. An agent whose file becomes invalid keeps its last valid definition. */
  watchAgents(onChange: (agents: ProjectAgents) => void): Promise<{ readonly current: ProjectAgents; close(): void }>;
  /** Writes a definition to start from and returns its path. Never overwrites a file. */
  newAgent(name: string, options: { readonly user: boolean }): Promise<string>;
  prepareRun(request: RunRequest): Promise<PreparedRun>;
  /** Throws `invalid_input` when no model of the project could split a goal. */
  requireGoalModel(): Promise<void>;
  /** `probe`: asks the providers whether they can be reached. `problem`: why the project's config was not used. */
  models(options: { readonly probe: boolean }): Promise<{
    readonly models: readonly ModelView[];
    /** The day of the built-in prices. */
    readonly prices_as_of: string;
    readonly problem?: string | undefined;
  }>;
  /** Makes a few real, small calls of the model; they cost what the model costs. `name` may be an alias. */
  tryModel(name: string, options: TryModelOptions): Promise<readonly TriedView[]>;
  /** The built-in runners and those that the config registers. `problem`: why the project's config was not used. */
  runners(): Promise<{ readonly runners: readonly RunnerView[]; readonly problem?: string | undefined }>;
  /** Executes nothing. Undefined when the project has no config. */
  config(): Promise<ConfigView | undefined>;
  /** Records that the config may be used as it is now, if its hash is still this one, and loads it. */
  trust(hash: string): Promise<ConfigSettings>;
  /** Finds models, coding agents and checks, and writes a config and a policy where there is none. */
  init(options: InitOptions): Promise<InitResult>;
  /** What `init` would write. Undefined when the project is set up, `init` adds nothing, or the person declined it here. */
  setupOffer(options: SetupOfferOptions): Promise<InitResult | undefined>;
  /** From now on there is no offer in this project. */
  declineSetup(): void;
  /** Undefined when the project has no policy file. */
  policyFile(): Promise<PolicyFileView | undefined>;
  /** Records that the policy may be used as it is now, if its hash is still this one. */
  trustPolicy(hash: string): Promise<void>;
  /** Throws `refused` for a policy file that is not trusted, and `invalid_input` for one that cannot be used. */
  policy(): Promise<PolicyView>;
  /** The policy that counts when the project has no policy file. */
  defaultPolicy(): Promise<PolicyView>;
  /** Checks the given policy, else the project's file, trusted or not, else the policy that is made from the models here. */
  checkPolicy(given?: GivenPolicy): Promise<PolicyCheck>;
  /** Writes the text to the project's policy file and trusts it; returns its path. Never overwrites a file (`conflict`). */
  writePolicy(text: string): Promise<string>;
  /** What sessions of coding agents would find in the folder that the project was opened with. */
  agentSettings(): Promise<AgentSettingsView>;
  /** Records that sessions may use these files with exactly the content that was shown. */
  trustAgentSettings(shown: AgentSettingsView): Promise<void>;
  /** The MCP servers of the project, of the user and of agents. Starts nothing. */
  servers(): Promise<ServersView>;
  /** Records that these servers may be used as they were shown, starts them, and says what they offer. */
  trustServers(shown: ServersView): Promise<readonly TriedServer[]>;
  /** Calls `onUrl` with the address at which the person logs in, and returns when they have. */
  logInServer(name: string, options: ServerLogin): Promise<void>;
  /** False when there was no login. */
  logOutServer(name: string): Promise<boolean>;
  /** Takes back every agreement about the project, its config, its settings for agents and its servers; false when there was none. */
  revokeTrust(): Promise<boolean>;
  doctor(): Promise<readonly Finding[]>;
}
