// What a child may do: an intersection with its parent's rights, so that they only narrow (invariant 6).

export interface Rights {
  /** Names of tools; `*` is every tool its parent has. */
  readonly tools: readonly string[] | "*";
  /** Folders it may touch, absolute, without a trailing slash. */
  readonly roots: readonly string[];
}

export type Narrowing =
  | { readonly ok: true; readonly rights: Rights }
  | { readonly ok: false; readonly message: string };

/** Refuses rights that the parent lacks instead of leaving them out: a child that silently lacks a tool would fail later. */
export function narrow(parent: Rights, wanted: Rights): Narrowing {
  const beyond = wanted.tools === "*" ? [] : wanted.tools.filter((tool) => !mayUse(parent, tool));
  if (beyond.length > 0) {
    return {
      ok: false,
      message: `the parent may not use ${beyond.join(", ")}; give the child only tools its parent has`,
    };
  }
  const outside = wanted.roots.filter((root) => !parent.roots.some((allowed) => isInside(root, allowed)));
  if (outside.length > 0) {
    return {
      ok: false,
      message: `the parent may not touch ${outside.join(", ")}; give the child folders inside its parent's`,
    };
  }
  return { ok: true, rights: { tools: wanted.tools === "*" ? parent.tools : wanted.tools, roots: wanted.roots } };
}

export function mayUse(rights: Rights, tool: string): boolean {
  return rights.tools === "*" || rights.tools.includes(tool);
}

function isInside(folder: string, root: string): boolean {
  if (folder.split("/").includes("..")) return false;
  return folder === root || folder.startsWith(root.endsWith("/") ? root : `${root}/`);
}
