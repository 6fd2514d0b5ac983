// What the command line needs from the machine it runs on: state folders, the daemon's process, projects.

import type { Reader, Tutti } from "../client/client.ts";
import type { Project } from "./project.ts";

interface Pruned {
  readonly trees: number;
  readonly tasks: number;
  readonly bytes_before: number;
  readonly bytes_after: number;
}

export interface UpOptions {
  readonly state: string;
  /** The folder whose project it is started in. */
  readonly from: string;
  readonly host?: string;
  readonly port?: number;
  readonly tls?: { readonly cert: string; readonly key: string };
  /** Beyond loopback without TLS. */
  readonly insecure?: boolean;
  /** How workers and operators on other machines reach it, when that is not where it listens. */
  readonly publicUrl?: string;
  readonly logLevel?: string;
  readonly graceMs?: number;
}

export interface RunningDaemon {
  readonly url: string;
  readonly pid: number;
  readonly version: string;
  readonly started_at: number;
}

/** What the command line needs from the machine it runs on. `bin/` injects the implementation, so that fronts never import the daemon. */
export interface Host {
  /** Reads the state beside whoever works on it. */
  look(folder: string): Reader;
  /** Works in this process: one process at a time works on a state folder. */
  work(folder: string, options?: { readonly from?: string }): Promise<Tutti>;
  /** The daemon that works on this state; undefined when there is none. */
  find(folder: string): Promise<RunningDaemon | undefined>;
  /** The process that works on this state, daemon or not; undefined when nobody does. */
  worker(folder: string): Promise<{ readonly pid: number; readonly since: string } | undefined>;
  /** A client of the daemon that works on this state, with the key found on its own; undefined when there is none. */
  connect(folder: string): Promise<Tutti | undefined>;
  /** Starts a daemon in a process of its own and waits until it answers; one that runs already is used. */
  start(options: UpOptions): Promise<{ readonly daemon: RunningDaemon; readonly existed: boolean }>;
  /** Runs the daemon in this process until a signal or a request stops it. */
  serve(options: UpOptions, onUp: (daemon: RunningDaemon) => void): Promise<void>;
  /** False when none was running; resolves when the state is free. */
  stop(folder: string, options: { readonly graceMs?: number; readonly force?: boolean }): Promise<boolean>;
  /** Removes finished trees: those that ended before `endedBefore`, then the oldest until the file is small enough. */
  prune(folder: string, options: { readonly endedBefore?: number; readonly maxBytes?: number }): Pruned;
  /** `from` is a folder in the project. */
  project(from: string): Promise<Project>;
}
