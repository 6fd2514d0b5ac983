// Prints the version of the package this command belongs to.
import { readFile } from "node:fs/promises";

import { isRecord } from "./batch.ts";
import { writeLine } from "./terminal/output.ts";

export async function printVersion({ json }: { readonly json?: boolean }): Promise<void> {
  const manifest: unknown = JSON.parse(await readFile(new URL("../../package.json", import.meta.url), "utf8"));
  const version = isRecord(manifest) ? String(manifest["version"]) : "unknown";
  await writeLine(json === true ? JSON.stringify({ version }) : version);
}
