// The tool `write_file`: writes a whole file inside the folders the task may touch, and nowhere else.

import { constants } from "node:fs";
import { lstat, mkdir, open, realpath } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";

import { z } from "zod";

import { TuttiError } from "../../protocol/error.ts";
import { stepTool } from "../tool.ts";

export const writeFile = stepTool({
  name: "write_file",
  description:
    "Writes a text file, with the folders it needs. A relative path begins at the first folder you may touch. " +
    "What was in the file before is replaced.",
  input: z.strictObject({ path: z.string().min(1), content: z.string() }),
  repeatable: false,
  async run({ path, content }, { rights }) {
    const file = await placeFor(path, rights.roots);
    // Not through a link: it may lead outside, and it may have been put there since the folder was looked at.
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW;
    const handle = await open(file, flags, 0o644);
    try {
      await handle.writeFile(content);
      await handle.sync();
    } finally {
      await handle.close();
    }
    return { path: file, bytes: Buffer.byteLength(content) };
  },
});

/** The real path of the file, its folder made; `refused` when it lies outside every root, whichever way it leads there. */
async function placeFor(path: string, roots: readonly string[]): Promise<string> {
  const first = roots[0];
  if (first === undefined) throw new TuttiError("refused", "this task may not touch any folder");
  if (path.includes("\0")) throw new TuttiError("invalid_input", "a path cannot hold a zero byte");
  const wanted = resolve(first, path);
  const root = roots.find((candidate) => isBelow(wanted, candidate));
  if (root === undefined) throw outside(path, roots);
  await mkdir(root, { recursive: true });
  const real = await realpath(root);
  const folder = await realFolder(real, relative(root, dirname(wanted)));
  if (folder === undefined) throw outside(path, roots);
  const file = join(folder, basename(wanted));
  const found = await lstat(file).catch(() => undefined);
  if (found?.isSymbolicLink() === true) throw new TuttiError("refused", `${path} is a link; write to the file itself`);
  if (found?.isDirectory() === true) throw new TuttiError("refused", `${path} is a folder`);
  return file;
}

/** Goes down name by name, making what is missing; undefined as soon as a link leads out of the root. */
async function realFolder(root: string, below: string): Promise<string | undefined> {
  let at = root;
  for (const name of below.split(sep).filter((part) => part !== "")) {
    await mkdir(join(at, name)).catch((thrown: unknown) => {
      if (!(thrown instanceof Error && "code" in thrown && thrown.code === "EEXIST")) throw thrown;
    });
    at = await realpath(join(at, name));
    if (at !== root && !isBelow(at, root)) return undefined;
  }
  return at;
}

function isBelow(path: string, root: string): boolean {
  const way = relative(root, path);
  return way !== "" && way !== ".." && !way.startsWith(`..${sep}`) && resolve(root, way) === path;
}

function outside(path: string, roots: readonly string[]): TuttiError {
  return new TuttiError("refused", `${path} is outside the folders this task may touch: ${roots.join(", ")}`);
}
