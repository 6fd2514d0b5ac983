// `tutti version`: prints the version of the package this command belongs to.
import { readVersion } from "../package-version.ts";
import { writeJson, writeLine } from "../terminal/screen.ts";

export interface VersionOptions {
  readonly json?: boolean;
}

export async function versionCommand({ json }: VersionOptions): Promise<void> {
  const version = await readVersion();
  await (json === true ? writeJson({ version }) : writeLine(version));
}
