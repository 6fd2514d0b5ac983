// Reads the version of the package from package.json.
import { readFile } from "node:fs/promises";

import { isRecord } from "./batch.ts";

/** This file, and every file of the bundle, is two folders below package.json; it must not be moved deeper. */
export async function readVersion(): Promise<string> {
  const manifest: unknown = JSON.parse(await readFile(new URL("../../package.json", import.meta.url), "utf8"));
  return isRecord(manifest) ? String(manifest["version"]) : "unknown";
}
