// Makes a commit of a tree without touching any checkout, under the person's name.

import type { ObjectStore, OwnGit } from "./own-git.ts";

export interface NewCommit {
  readonly tree: string;
  readonly parents: readonly string[];
  readonly message: string;
  readonly objects?: ObjectStore;
  /** Makes the id depend on the content alone: nobody's name, and the beginning of time. */
  readonly anonymous?: boolean;
  readonly signal?: AbortSignal | undefined;
}

export async function makeCommit(git: OwnGit, commit: NewCommit): Promise<string> {
  const { tree, parents, message, objects, anonymous = false, signal } = commit;
  const { name, email } = anonymous ? { name: "Tutti", email: "tutti@localhost" } : git.settings.identity;
  const date = anonymous ? { GIT_AUTHOR_DATE: "@0 +0000", GIT_COMMITTER_DATE: "@0 +0000" } : {};
  return git.text(["commit-tree", tree, ...parents.flatMap((parent) => ["-p", parent]), "-F", "-"], {
    input: message.endsWith("\n") ? message : `${message}\n`,
    env: {
      GIT_AUTHOR_NAME: name,
      GIT_AUTHOR_EMAIL: email,
      GIT_COMMITTER_NAME: name,
      GIT_COMMITTER_EMAIL: email,
      ...date,
    },
    signal,
    ...(objects === undefined ? {} : { objects }),
  });
}
