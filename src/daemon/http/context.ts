// What handlers work with: the opened state, and what the process knows of itself.

import type { Project } from "../../host/project.ts";
import type { Answered } from "../../protocol/api/route-shape.ts";
import type { Routes } from "../../protocol/api/routes.ts";
import type { TuttiError } from "../../protocol/error.ts";
import type { State } from "../state/state.ts";

export interface HttpContext {
  readonly state: State;
  readonly openapi: () => unknown;
  readonly runners: Answered<Routes["runners"]>["runners"];
  /** The project a folder is in. */
  readonly project: (folder: string) => Promise<Pick<Project, "agents" | "models">>;
  /** The folder the service was started in. */
  readonly from: string;
  readonly stopping: () => TuttiError | undefined;
  /** Why it takes no more work although it still answers; undefined while it does. */
  readonly notReady?: () => TuttiError | undefined;
  /** Asks the process to stop; called when the reply has gone out. */
  readonly onShutdown: (graceMs: number | undefined) => void;
}
