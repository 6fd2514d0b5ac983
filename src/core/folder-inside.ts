// Finds the folder that a path means inside of given folders, without looking at the disk.

/** The absolute path without `.` and `..`; a relative one begins at the first root. Undefined when no root holds it. */
export function folderInside(path: string, roots: readonly string[]): string | undefined {
  const [first] = roots;
  if (first === undefined || path.includes("\0")) return undefined;
  const folder = plainPath(path.startsWith("/") ? path : `${first}/${path}`);
  if (folder === undefined) return undefined;
  const isHeld = roots.some((root) => {
    const top = plainPath(root);
    return top !== undefined && (folder === top || folder.startsWith(top === "/" ? "/" : `${top}/`));
  });
  return isHeld ? folder : undefined;
}

/** Undefined when it would lead above the top of the disk. */
function plainPath(path: string): string | undefined {
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "" || part === ".") continue;
    if (part !== "..") parts.push(part);
    else if (parts.pop() === undefined) return undefined;
  }
  return `/${parts.join("/")}`;
}
