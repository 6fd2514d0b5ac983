// `tutti open`: prints the folder of a task's workspace, or starts an editor there.
import { resolve } from "node:path";

import type { Host } from "../../host/host.ts";
import { TuttiError } from "../../protocol/error.ts";
import { startThere } from "../run-program-here.ts";
import { warn } from "../terminal/output.ts";
import { note, standardOutput, writeExactLine, writeJson } from "../terminal/screen.ts";
import { dim } from "../terminal/style.ts";
import { findWorkspaceTask, withWorkspaces, type WorkspacesOptions } from "../with-workspaces.ts";

export interface OpenOptions extends WorkspacesOptions {
  readonly editor?: string;
}

export async function openCommand(host: Host, given: string, options: OpenOptions): Promise<void> {
  if (host.remote !== undefined) {
    throw new TuttiError("usage", `the workspace is on the machine of the daemon at ${host.remote.url}; open it there`);
  }
  let folder = "";
  await withWorkspaces(host, options, async (tutti) => {
    const workspace = await tutti.taskWorkspace(await findWorkspaceTask(tutti, given));
    const { id, task, state } = workspace;
    if (state === "removed" || state === "missing") {
      const { warnings } = await tutti.restoreWorkspace(id);
      note(dim(`${id} was ${state} and is made again`));
      for (const warning of warnings) warn(warning);
    }
    if (options.json === true) return writeJson({ workspace: id, task, folder: workspace.folder });
    folder = workspace.folder;
  });
  if (folder === "") return;
  // After the state folder is free again: an editor may stay open for hours.
  const editor = options.editor ?? (standardOutput.isTerminal ? process.env["EDITOR"] : undefined);
  const [program = "", ...args] = (editor ?? "").split(/\s+/).filter((word) => word !== "");
  if (program === "") return writeExactLine(folder);
  // A relative path is one of the person's own folder, never of the workspace, where a model may have put a program.
  const found = program.includes("/") ? resolve(program) : program;
  const code = await startThere([found, ...args, folder], folder);
  if (code !== 0) throw new TuttiError("io", `${program} ended with status ${code}; the folder is ${folder}`);
}
