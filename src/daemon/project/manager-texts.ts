// Finds the files that replace parts of the manager's prompt: those of a trusted project, then those of the user.

import { readFile, stat } from "node:fs/promises";
import { dirname, join } from "node:path";

import { errno } from "../../core/errno.ts";
import { strangerProblem } from "../../files/owned-path.ts";
import { TuttiError } from "../../protocol/error.ts";
import { ManagerTexts } from "../../protocol/invocation/goal-file.ts";

const maxBytes = 64 * 1024;

/** `.tutti/manager/instructions.md` and so on. Those of a project are hashed with its config, so they are trusted with it. */
export const managerFiles = Object.keys(ManagerTexts.shape).map((part) => ({
  part,
  path: join(".tutti", "manager", `${part}.md`),
}));

export async function managerTexts({
  project,
  home,
  isTrusted,
}: {
  readonly project: string;
  readonly home: string;
  /** Whether the project has a config that a person agreed to. */
  readonly isTrusted: boolean;
}): Promise<ManagerTexts> {
  const folders = [...(isTrusted ? [project] : []), home];
  const found: Record<string, string> = {};
  for (const { part, path } of managerFiles) {
    for (const folder of folders) {
      const text = await textAt(join(folder, path));
      if (text === undefined) continue;
      found[part] = text;
      break;
    }
  }
  return ManagerTexts.parse(found);
}

/** Undefined when there is no such file or nothing in it. */
async function textAt(file: string): Promise<string | undefined> {
  try {
    const { size } = await stat(file);
    const problem = strangerProblem(dirname(file)) ?? strangerProblem(file);
    if (problem !== undefined) throw new TuttiError("refused", `${file} is not used: ${problem}`);
    if (size > maxBytes) throw new TuttiError("too_large", `${file} is larger than ${maxBytes} bytes`);
    const text = await readFile(file, "utf8");
    return text.trim() === "" ? undefined : text;
  } catch (thrown) {
    if (errno(thrown) === "ENOENT" || errno(thrown) === "ENOTDIR") return undefined;
    throw thrown;
  }
}
