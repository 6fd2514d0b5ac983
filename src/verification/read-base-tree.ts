// Reads the files of a base that may say what a check is made of: from git's objects alone, all at once, and never more than so much.

import type { ObjectStore, OwnGit } from "../workspace/own-git.ts";
import { baseTree, type BaseTree } from "./anatomy/base-tree.ts";
import { fileKind, isCode } from "./anatomy/file-kinds.ts";
import { isTestLike } from "./anatomy/test-names.ts";

const mostFiles = 10_000;
const mostBytes = 64 * 1024 * 1024;
const mostFileBytes = 1024 * 1024;
/** No text that anybody reads as a part of a check. */
const opaque =
  /\.(?:png|jpe?g|gif|webp|avif|ico|bmp|tiff?|svg|pdf|zip|gz|tgz|bz2|xz|zst|7z|jar|war|class|so|dylib|dll|exe|o|a|wasm|woff2?|ttf|otf|eot|mp[34]|mov|avi|webm|ogg|wav|flac|db|sqlite3?|parquet|npy|npz|pkl|bin|map|lockb|snap|csv|tsv|log)$/i;

interface TreeSource {
  readonly git: OwnGit;
  readonly objects: ObjectStore;
  readonly signal: AbortSignal;
}

export async function readBaseTree({ git, objects, signal }: TreeSource, tree: string): Promise<BaseTree> {
  const told = await git.list(["ls-tree", "-r", "-z", "-l", "--full-tree", tree], { objects, signal });
  const blobs = told.flatMap((line) => {
    const [, id, size, path] = /^\d+ blob ([0-9a-f]+) +(\d+)\t([^]*)$/.exec(line) ?? [];
    return id === undefined || path === undefined ? [] : [{ id, size: Number(size), path }];
  });
  const wanted: typeof blobs = [];
  let bytes = 0;
  for (const blob of blobs.toSorted((one, other) => rank(one.path) - rank(other.path))) {
    if (blob.size > mostFileBytes || opaque.test(blob.path) || bytes + blob.size > mostBytes) continue;
    if (wanted.length >= mostFiles) break;
    wanted.push(blob);
    bytes += blob.size;
  }
  const texts = new Map<string, string>();
  if (wanted.length > 0) {
    const input = wanted.map(({ id }) => `${id}\n`).join("");
    const maxBytes = mostBytes + wanted.length * 200;
    const { stdout } = await git.run(["cat-file", "--batch"], { input, maxBytes, objects, signal });
    let at = 0;
    for (const { path, size } of wanted) {
      const begin = stdout.indexOf(0x0a, at) + 1;
      texts.set(path, stdout.toString("utf8", begin, begin + size));
      at = begin + size + 1;
    }
  }
  // What is no text has nothing to tell.
  for (const { path } of blobs) if (opaque.test(path)) texts.set(path, "");
  return baseTree(
    blobs.map(({ path }) => path),
    texts,
  );
}

/** Settings and scripts first, then tests, then code, then the rest. */
function rank(path: string): number {
  const kind = fileKind(path);
  if (/(?:^|\/)(?:package\.json|pyproject\.toml|setup\.cfg|go\.mod|Cargo\.toml)$/.test(path)) return 0;
  if (!path.includes("/") || kind === "shell") return 1;
  if (isTestLike(path) && isCode(kind)) return 2;
  return isCode(kind) ? 3 : kind === "document" ? 5 : 4;
}
