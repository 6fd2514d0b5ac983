// Writes to files of a checkout, and nowhere else: no link leads out of it.

import { appendFile, lstat, realpath } from "node:fs/promises";
import { join } from "node:path";

/** What is no plain file of the folder stays as it is. */
export async function appendLine(folder: string, path: string, line: string): Promise<void> {
  const file = join(folder, path);
  const found = await lstat(file).catch(() => undefined);
  if (found?.isFile() !== true || (await realpath(file)) !== file) return;
  await appendFile(file, `${line}\n`);
}
