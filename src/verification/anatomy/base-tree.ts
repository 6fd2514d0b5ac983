// The files of the base as the anatomy of a check sees them: their paths, and the text of those that could be read.

export interface BaseTree {
  readonly paths: readonly string[];
  readonly has: (path: string) => boolean;
  readonly isFolder: (path: string) => boolean;
  /** All files below a folder; all files for the top, which is the empty string. */
  readonly below: (folder: string) => readonly string[];
  /** Undefined when there is no such file, or when it is past what may be read. */
  readonly read: (path: string) => string | undefined;
  /** Whether a file was wanted that is past what may be read. Nothing that was found out is complete then. */
  readonly isBeyond: () => boolean;
}

/** `texts` may lack files, which are past what may be read. */
export function baseTree(paths: readonly string[], texts: ReadonlyMap<string, string>): BaseTree {
  const files = new Set(paths);
  const folders = new Set([""]);
  for (const path of paths) {
    for (let at = path.lastIndexOf("/"); at > 0; at = path.lastIndexOf("/", at - 1)) {
      const folder = path.slice(0, at);
      if (folders.has(folder)) break;
      folders.add(folder);
    }
  }
  let beyond = false;
  const known = new Map<string, readonly string[]>([["", paths]]);
  return {
    paths,
    has: (path) => files.has(path),
    isFolder: (path) => folders.has(path),
    below: (folder) => {
      const found = known.get(folder) ?? paths.filter((path) => path.startsWith(`${folder}/`));
      known.set(folder, found);
      return found;
    },
    read: (path) => {
      const text = texts.get(path);
      if (text === undefined && files.has(path)) beyond = true;
      return text;
    },
    isBeyond: () => beyond,
  };
}
