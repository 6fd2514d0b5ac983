// Which verbs of session control each runner has; what it lacks is refused by name.

import { TuttiError } from "../protocol/error.ts";

/** Verbs that do something to a session. Listing, getting and observing are had by all. */
export type SessionVerb = "send" | "interrupt" | "stop" | "resume" | "cancel" | "kill";

const all: readonly SessionVerb[] = ["send", "interrupt", "stop", "resume", "cancel", "kill"];
/** It takes no messages while it works. */
const silent: readonly SessionVerb[] = ["stop", "resume", "cancel", "kill"];

const verbsOf: Readonly<Record<string, readonly SessionVerb[]>> = {
  local: all,
  acp: all,
  operator: all,
  command: silent,
  /** It only starts others, each of which has a session of its own. Ending it ends all of them. */
  invocation: ["cancel", "kill"],
  /** It starts trees of their own, which have sessions. */
  schedule: ["cancel", "kill"],
};

/** A runner that a project registers takes its mail or does not; the engine does the rest. */
const ofOthers: readonly SessionVerb[] = all;

/** Throws `refused` when sessions of the runner cannot do that. */
export function checkVerb(
  verb: SessionVerb,
  { runner, task }: { readonly runner: string; readonly task: string },
): void {
  const verbs = Object.hasOwn(verbsOf, runner) ? verbsOf[runner] : ofOthers;
  if (verbs?.includes(verb) === true) return;
  const why =
    runner === "invocation"
      ? "it is an invocation; name one of its tasks, which `tutti show` lists"
      : `sessions of the runner ${runner} cannot do that; they can: ${(verbs ?? []).join(", ")}`;
  throw new TuttiError("refused", `${task} cannot ${verb}: ${why}`);
}
