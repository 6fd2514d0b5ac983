// `tutti completion`: prints a script that completes commands, options and names in a shell.
import type { Command } from "commander";

import { type CommandEntry, completionTable } from "../completion/completion-table.ts";
import { fishScript } from "../completion/fish-script.ts";
import { bashScript, zshScript } from "../completion/shell-script.ts";
import { writeJson, writeUnbroken } from "../terminal/screen.ts";

export interface CompletionOptions {
  readonly json?: boolean;
}

export type Shell = "bash" | "zsh" | "fish";

const scripts: Readonly<Record<Shell, (table: readonly CommandEntry[]) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

export async function completionCommand(program: Command, shell: Shell, { json }: CompletionOptions): Promise<void> {
  const script = scripts[shell](completionTable(program));
  await (json === true ? writeJson({ shell, script }) : writeUnbroken(script));
}
