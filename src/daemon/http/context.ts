// What all handlers share: the opened state folder, and facts about this process.

import type { Project } from "../../host/project.ts";
import type { ModelView, PolicyInForce } from "../../protocol/api/catalog.ts";
import type { RouteResult } from "../../protocol/api/route-shape.ts";
import type { RouteName, Routes } from "../../protocol/api/routes.ts";
import type { TuttiError } from "../../protocol/error.ts";
import type { State } from "../state/state.ts";

export interface HttpContext {
  readonly state: State;
  readonly openapi: () => unknown;
  readonly runners: RouteResult<Routes["runners"]>["runners"];
  /** Opens the project that contains the folder. */
  readonly project: (folder: string) => Promise<Pick<Project, "agents" | "models" | "runners">>;
  /** The models of the user's own config and the built-in ones. */
  readonly models: (options: { readonly probe: boolean }) => Promise<readonly ModelView[]>;
  /** The routing policy of the project that contains the folder. */
  readonly policy: (folder: string) => Promise<PolicyInForce>;
  /** Where relative paths begin when a request names no folder. */
  readonly from: string;
  /** Aborted when the service stops. */
  readonly stopping: AbortSignal;
  /** The reason why the service starts no more work although it still answers; undefined while it is ready. */
  readonly notReady?: () => TuttiError | undefined;
  /** The reason why only the service itself answers yet; undefined once work is taken. */
  readonly starting?: () => TuttiError | undefined;
  /** Asks the process to stop; called after the reply was sent. */
  readonly onShutdown: (graceMs: number | undefined) => void;
  /** Told of each request that was carried out and did more than look. */
  readonly onDone?: (route: RouteName) => void;
}

/** The part of a pino logger that the HTTP server uses. */
export interface HttpLog {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}
