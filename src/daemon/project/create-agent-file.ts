// Creates the file of a new agent with a starter definition, and never overwrites one.

import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { readDefinition } from "../../agent/definition/definition.ts";
import { starterDefinition } from "../../agent/definition/starter-file.ts";
import { TuttiError } from "../../protocol/error.ts";

/** Returns the path of the file. */
export async function createAgentFile(folder: string, name: string): Promise<string> {
  const text = starterDefinition(name);
  const reading = readDefinition(text, { stem: name });
  if (reading.kind !== "agent" || reading.name !== name) {
    const why = reading.issues.find((issue) => issue.level === "error")?.message ?? "it is not a plain name";
    throw new TuttiError("usage", `an agent cannot be called ${JSON.stringify(name)}: ${why}`);
  }
  const file = join(folder, `${name}.md`);
  try {
    await mkdir(folder, { recursive: true });
    await writeFile(file, text, { flag: "wx" });
  } catch (thrown) {
    const code = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
    if (code === "EEXIST") throw new TuttiError("conflict", `${file} exists already; it was not changed`);
    throw new TuttiError("io", `could not write ${file}: ${String(thrown)}`, { cause: thrown });
  }
  return file;
}
