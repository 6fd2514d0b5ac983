// Before a goal in a project that nobody has set up: says what was found there, and asks once whether to use it.
import { relative } from "node:path";

import type { Host } from "../host/host.ts";
import type { InitResult, Project } from "../host/project.ts";
import { TuttiError } from "../protocol/error.ts";
import { foundLines } from "./found-lines.ts";
import { printableName } from "./terminal/printable.ts";
import { note } from "./terminal/screen.ts";
import { dim, paint } from "./terminal/style.ts";
import { canAsk, prompt } from "./terminal/terminal-prompt.ts";

const longestMs = 30_000;

export interface SetupQuestion {
  readonly folder: string;
  /** The state folder. */
  readonly state: string;
  /** Whether the person named a check for the goal. */
  readonly hasCheck: boolean;
  /** False with `--no-input` or `--yes`: nothing is asked, and nothing is written into the project. */
  readonly asks: boolean;
}

export async function offerSetup(host: Host, { folder, state, hasCheck, asks }: SetupQuestion): Promise<void> {
  const project = await host.openProject(folder, { state });
  if (!asks || !canAsk()) return sayUsed(project);
  const found = await project.setupOffer({ checks: !hasCheck, signal: AbortSignal.timeout(longestMs) });
  if (found === undefined) return;
  if (await agrees(found)) {
    const options = { force: false, dryRun: false, signal: AbortSignal.timeout(longestMs), shown: found.files };
    const { files } = await project.init(options);
    for (const { file, state: done } of files)
      if (done === "written") note(`${paint("green", "written")} ${printableName(file)}`);
    return;
  }
  project.declineSetup();
  note(dim("Nothing was written. `tutti init` does it later; goals here no longer ask."));
}

/** Where nobody is asked, nothing is written. */
async function sayUsed(project: Project): Promise<void> {
  if ((await project.config()) !== undefined || (await project.policyFile()) !== undefined) return;
  const { models } = await project.models({ probe: false });
  const model = models.find((each) => each.default && each.provider !== "rehearsal")?.model;
  if (model === undefined) return;
  note(
    dim(`This project has no config: ${printableName(model)} works, and no check of its own runs (\`tutti init\`).`),
  );
}

/** Only y and n are answers. Ctrl-C and the end of the input leave before anything has begun. */
async function agrees(found: InitResult): Promise<boolean> {
  note(`${printableName(found.folder)} is not set up for Tutti yet. Found:`);
  for (const line of foundLines(found)) note(line);
  const files = found.files.flatMap(({ file, text }) => (text === null ? [] : [relative(found.folder, file)]));
  note(`y: writes ${files.join(" and ")}, lets the checks run without asking, and goes on with the goal`);
  note("n: goes on without any of it, and does not ask again");
  for (;;) {
    const answer = await prompt("Use this? y or n\n> ");
    if (answer === undefined) throw new TuttiError("canceled", "nothing was written, and no goal was started");
    const [, yes, no] = /^\s*(?:(y(?:es)?)|(no?))\s*$/i.exec(answer) ?? [];
    if (yes !== undefined) return true;
    if (no !== undefined) return false;
  }
}
