// Looks into folders whose names are not UTF-8: as text such a name is another one, so nothing below it could be opened.

import { lstat, readdir } from "node:fs/promises";

import { protectedDepth } from "../../../core/protected-path.ts";

const slash = Buffer.from("/");

/** The folders in `folder` whose names are not UTF-8, as bytes. */
export async function oddlyNamedFolders(folder: string): Promise<Buffer[]> {
  const entries = await readdir(folder, { encoding: "buffer", withFileTypes: true }).catch(() => []);
  return entries.flatMap((entry) => (entry.isDirectory() && !isText(entry.name) ? [entry.name] : []));
}

/** A name for people and records. */
export function shownName(name: Buffer): string {
  return name.toString("latin1").replaceAll(/[^ -~]/g, (byte) => `\\x${byte.charCodeAt(0).toString(16)}`);
}

/**
 * Whether something protected is below the folder: then a text that is another one after every change in it, and
 * otherwise undefined. `most`: how many folders are looked at.
 */
export async function protectedBelow(folder: Buffer, most: number): Promise<string | undefined> {
  let isProtected = false;
  let newest = 0n;
  let count = 0;
  const waiting = [folder];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    const names = new Set<string>();
    for (const entry of await readdir(at, { encoding: "buffer", withFileTypes: true }).catch(() => [])) {
      const path = Buffer.concat([at, slash, entry.name]);
      const name = entry.name.toString();
      const parent = at.subarray(at.lastIndexOf(slash) + 1).toString();
      names.add(name);
      isProtected ||= protectedDepth([parent, name]) !== undefined;
      if (entry.isDirectory()) waiting.push(path);
      const stats = await lstat(path, { bigint: true }).catch(() => undefined);
      if (stats !== undefined && stats.ctimeNs > newest) newest = stats.ctimeNs;
      count += 1;
    }
    isProtected ||= names.has("HEAD") && ((names.has("objects") && names.has("refs")) || names.has("commondir"));
    if (count > most) return `${newest}:many`;
  }
  return isProtected ? `${newest}:${count}` : undefined;
}

function isText(name: Buffer): boolean {
  return Buffer.from(name.toString()).equals(name);
}
