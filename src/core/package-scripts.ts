// The scripts of a package.json, as far as they are lines for a shell.

import { z } from "zod";

const PackageFile = z.looseObject({ scripts: z.record(z.string(), z.unknown()).optional() });

/** Empty when the text is no such file. */
export function packageScripts(text: string): Record<string, string> {
  const scripts = scriptsIn(text);
  return Object.fromEntries(
    Object.entries(scripts).flatMap(([name, line]) => (typeof line === "string" ? [[name, line]] : [])),
  );
}

function scriptsIn(text: string): Record<string, unknown> {
  try {
    return PackageFile.parse(JSON.parse(text)).scripts ?? {};
  } catch {
    return {};
  }
}
