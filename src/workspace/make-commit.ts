// Makes a commit of a tree without touching any checkout, under the person's name, and signed where the person signs commits.

import { TuttiError } from "../protocol/error.ts";
import type { GitRun, ObjectStore, OwnGit } from "./own-git.ts";

export interface NewCommit {
  readonly tree: string;
  readonly parents: readonly string[];
  readonly message: string;
  readonly objects?: ObjectStore;
  /** Makes the id depend on the content alone: nobody's name, and the beginning of time. */
  readonly anonymous?: boolean;
  /** Signs the commit if the person's configuration says so; never when absent. */
  readonly signing?: Signing | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface Signing {
  /** Called with a sentence when a commit should have been signed and could not be. It is made without a signature. */
  readonly onUnsigned: (problem: string) => void;
}

/** A program that asks for a password has nobody to ask here. */
const signingMs = 30_000;
/** Where the programs that sign find their keys. */
const signingVariables = ["SSH_AUTH_SOCK", "GNUPGHOME", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"];

export async function makeCommit(git: OwnGit, commit: NewCommit): Promise<string> {
  const { tree, parents, message, objects, anonymous = false, signing, signal } = commit;
  const { name, email } = anonymous ? { name: "Tutti", email: "tutti@localhost" } : git.settings.identity;
  const date = anonymous ? { GIT_AUTHOR_DATE: "@0 +0000", GIT_COMMITTER_DATE: "@0 +0000" } : {};
  const args = [tree, ...parents.flatMap((parent) => ["-p", parent]), "-F", "-"];
  const options: GitRun = {
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
  };
  if (signing !== undefined && git.settings.signs) {
    try {
      const env = { ...options.env, ...signingEnvironment() };
      // The person's own program signs the text of the commit. It sees no file of the session.
      return await git.text(["commit-tree", "-S", ...args], { ...options, env, timeoutMs: signingMs });
    } catch (thrown) {
      signal?.throwIfAborted();
      if (!(thrown instanceof TuttiError)) throw thrown;
      signing.onUnsigned(
        `Your git signs commits, but a commit of Tutti's could not be signed here and has no signature: ${thrown.message}`,
      );
    }
  }
  return git.text(["commit-tree", ...args], options);
}

function signingEnvironment(): Record<string, string> {
  return Object.fromEntries(
    signingVariables.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value] as const];
    }),
  );
}
