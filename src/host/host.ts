// The interface of the machine that the command line runs on: state folders, the daemon's process, projects.

import type { Reader, Tutti } from "../client/client.ts";
import type { ModelView, RunnerView } from "../protocol/api/catalog.ts";
import type { ServiceSetup } from "../protocol/api/service.ts";
import type { TuttiError } from "../protocol/error.ts";
import type { StandingApproval } from "../protocol/invocation/standing-approval.ts";
import type { TaskId } from "../protocol/ids.ts";
import type { AddedServer, AddServerOptions } from "./added-server.ts";
import type { Finding, Project, ProjectAgents, TrustedConfig, TrustedServer, TrustedSetting } from "./project.ts";

interface Pruned {
  readonly trees: number;
  readonly tasks: number;
  readonly bytes_before: number;
  readonly bytes_after: number;
}

/** A database that nodes share, as a command is given it. What is absent is looked for where a node finds it. */
export interface GivenDatabase {
  readonly url?: string;
  readonly schema?: string;
  /** A file that holds the key of the cluster. */
  readonly keyFile?: string;
}

export interface MoveProgress {
  readonly rows: number;
  readonly of: number;
}

/** What was moved between a state folder and a database. */
export interface Moved {
  /** It was moved before; nothing was done. */
  readonly existed: boolean;
  readonly trees: number;
  readonly tasks: number;
  readonly rows: number;
  /** Trees that go on where they are now. */
  readonly unfinished: number;
  /** What the person has to know, each a sentence. */
  readonly notes: readonly string[];
}

/** How a daemon is a node of many. What is not given stays as it was at the last start. */
export interface DatabaseOptions {
  /** Of the PostgreSQL that the nodes share. */
  readonly url?: string;
  /** The schema that holds everything of this Tutti. */
  readonly schema?: string;
  readonly node?: string;
  readonly labels?: readonly string[];
  readonly leaseMs?: number;
  /** Where the other nodes reach this one, when it is not the address that it listens on. */
  readonly advertise?: string;
  /** A file that holds the key of the cluster. */
  readonly keyFile?: string;
  /** Projects that lie elsewhere on other machines, each as `NAME=FOLDER`. */
  readonly projects?: readonly string[];
}

export interface UpOptions {
  readonly state: string;
  readonly database?: DatabaseOptions;
  /** Where relative paths of requests begin that name no folder. */
  readonly from: string;
  readonly host?: string;
  readonly port?: number;
  readonly tls?: { readonly cert: string; readonly key: string };
  /** Allows other machines to connect without TLS. */
  readonly insecure?: boolean;
  /** The address at which workers and operators on other machines reach the daemon, when it is not the one it listens on. */
  readonly publicUrl?: string;
  readonly logLevel?: string;
  readonly graceMs?: number;
  /** How much of the disk must be free for new work to be taken. */
  readonly minFreeBytes?: number;
  /** How many connections there may be at a time. */
  readonly maxConnections?: number;
  /** How many requests and streams one key may have in flight. */
  readonly maxRequests?: number;
}

export interface RunningDaemon {
  readonly url: string;
  readonly pid: number;
  readonly version: string;
  readonly started_at: number;
  /** It is no daemon but a command, which serves others until its own work is done. */
  readonly command: boolean;
}

/** Work on a state folder in this process, which serves other commands meanwhile. */
export interface LocalWork {
  readonly tutti: Tutti;
  /** Resolves when another process asks this one to stop, as `tutti down` does; with the error when the folder is gone. */
  readonly stopAsked: Promise<TuttiError | undefined>;
  /** Stops the work here. Returns the daemon that goes on with it, if others gave work to this process that is unfinished. */
  close(): Promise<RunningDaemon | undefined>;
}

/** Keys of model providers that are kept in the state folder, or in the database of a cluster. They are never given back, only used. */
interface StoredKeys {
  /** Where they are kept and who can read them, for people. */
  readonly place: string;
  /** The providers that have a key. */
  list(): string[];
  /** Replaces the key of the provider. */
  put(provider: string, key: string): Promise<void>;
  /** False when there was none. */
  remove(provider: string): Promise<boolean>;
}

/** The key of the cluster that a state folder is a node of. */
interface StoredClusterKey {
  /** Where it is kept. */
  readonly file: string;
  /** Undefined when there is none. It is shown only to a person who asks for it. */
  read(): string | undefined;
  /** Throws `conflict` when there is another one, unless the cluster had that before and has this one now. */
  keep(text: string): Promise<void>;
  /** Where the key is kept that the cluster is to have next. */
  readonly nextFile: string;
  readNext(): string | undefined;
  /** Replaces the one that was to be next. The other nodes can see that this one has it. */
  keepNext(text: string): Promise<void>;
  /** Gives the cluster the next key, which is made if there is none. Throws `conflict` when nodes work without it, unless `force`. */
  rotate(options: { readonly force: boolean }): Promise<void>;
}

/** What a daemon elsewhere has to work with. `folder` is on its machine; where it was started when absent. */
export interface Catalog {
  agents(folder: string | undefined): Promise<ProjectAgents>;
  models(folder: string | undefined, options: { readonly probe: boolean }): Promise<readonly ModelView[]>;
  runners(folder: string | undefined): Promise<readonly RunnerView[]>;
}

/** `bin/` passes the implementation to the command line, so that the command line never imports the daemon. */
export interface Host {
  /** The daemon elsewhere that the command works with; absent when it works on this machine. */
  readonly remote?: { readonly url: string; readonly catalog: Catalog };
  /** Reads the state folder itself, also while another process works on it. Throws `not_found` when there is no state. */
  openReader(folder: string): Reader;
  /** Works on the state folder in this process. Only one process at a time can; the others are served by it. */
  openLocal(folder: string): Promise<LocalWork>;
  /** Cancels a task while nobody works on the folder, without resuming anything. Returns the tasks that were canceled. */
  cancel(folder: string, task: TaskId, reason: string): Promise<readonly TaskId[]>;
  /** Takes the state folder while nobody works on it, without resuming anything. Closing gives it back. */
  openIdle(folder: string): Promise<Tutti>;
  /** The daemon that works on the folder; undefined when none does. */
  findDaemon(folder: string): Promise<RunningDaemon | undefined>;
  /** The process that works on the folder, daemon or not; undefined when none does. */
  findOwner(folder: string): Promise<{ readonly pid: number; readonly since: string } | undefined>;
  /** Whether the process of the last daemon of the folder runs, ended without being stopped, or was stopped. */
  lastDaemon(folder: string): Promise<"running" | "crashed" | "stopped">;
  /** A client of the daemon that works on the folder, with the API key from the folder; undefined when there is no daemon. */
  connect(folder: string): Promise<Tutti | undefined>;
  /** Sends requests to the daemon that works on the folder, with the API key from the folder; undefined when there is none. */
  daemonFetch(folder: string): Promise<((path: string, init: RequestInit) => Promise<Response>) | undefined>;
  /** Starts a daemon in a process of its own and waits until it answers. If one runs already, that one is returned. */
  startDaemon(options: UpOptions): Promise<{ readonly daemon: RunningDaemon; readonly existed: boolean }>;
  /** Runs the daemon in this process until a signal or a request stops it. */
  runDaemon(options: UpOptions, onUp: (daemon: RunningDaemon) => void): Promise<void>;
  /** Resolves when the folder is free; false when no daemon was running. */
  stopDaemon(folder: string, options: { readonly graceMs?: number; readonly force?: boolean }): Promise<boolean>;
  /** Removes finished trees: those that ended before `endedBefore`, then the oldest until the database is small enough. */
  prune(folder: string, options: { readonly endedBefore?: number; readonly maxBytes?: number }): Promise<Pruned>;
  /** The records of the folder are in a database, where they can be pruned while daemons run. */
  sharesRecords(folder: string): boolean;
  /** Moves all records of the folder into the database. Nobody may work on either. */
  importRecords(folder: string, database: GivenDatabase, onProgress: (progress: MoveProgress) => void): Promise<Moved>;
  /** Moves all records of the database into the folder. Nobody may work on either. */
  exportRecords(folder: string, database: GivenDatabase, onProgress: (progress: MoveProgress) => void): Promise<Moved>;
  /** Checks the database that is given, or that the node of the folder works on. No finding when there is none and none is asked for. */
  checkSharedDatabase(folder: string, database: GivenDatabase | undefined): Promise<readonly Finding[]>;
  storedKeys(folder: string): Promise<StoredKeys>;
  /** Asks a server for its models, and sets it up in the user's own config. */
  addModelServer(options: AddServerOptions): Promise<AddedServer>;
  clusterKey(folder: string): Promise<StoredClusterKey>;
  /**
   * Shows the address in the person's browser. Other users of the machine do not get to see it. False when there is no
   * browser to start.
   */
  openBrowser(folder: string, url: string): Promise<boolean>;
  /** What this process would have to work with, as `Tutti.setup` tells it of the process that does the work. */
  setup(options: { readonly state: string; readonly folder: string }): Promise<ServiceSetup>;
  /** `folder` is a folder in the project; `state` is the state folder, which knows what configs are trusted. */
  openProject(folder: string, options: { readonly state: string }): Promise<Project>;
  /** What was allowed for good; for when no process works on the folder. */
  standingApprovals(folder: string): Promise<{
    list(): Promise<readonly StandingApproval[]>;
    revoke(id: string): Promise<void>;
  }>;
  /** The contents of configs that the person has trusted. */
  trustedConfigs(folder: string): Promise<readonly TrustedConfig[]>;
  /** The MCP servers that the person has agreed to. */
  trustedServers(folder: string): Promise<readonly TrustedServer[]>;
  /** The settings for coding agents that the person has trusted, file by file. */
  trustedSettings(folder: string): Promise<readonly TrustedSetting[]>;
}
