// A `gh` of the test: it does what a shell script says, and stands before any other on PATH.

import { writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";

import { repositoryAt } from "./git-kit.ts";
import { type Cleanup, tempFolder } from "./temp-folder.ts";

export interface FakeGh {
  /** Replaces what it does. */
  readonly write: (script: string) => void;
  /** An empty bare repository to push to. */
  readonly origin: string;
  /** The file that `honestGh` writes the arguments of creating into. */
  readonly said: string;
  /** PATH with it. */
  readonly path: string;
}

/** Knows the pull request of each branch that `origin` has, and prints a false address when it creates one. */
export const honestGh = `case "$1 $2" in
"pr create") shift 2; printf '%s\\n' "$@" > "$said"; echo https://example.invalid/false ;;
"pr view") head=$(git ls-remote origin "refs/heads/$3" | cut -f 1)
  echo "{\\"number\\":7,\\"url\\":\\"https://github.example/pull/7\\",\\"state\\":\\"OPEN\\",\\"headRefName\\":\\"$3\\",\\"headRefOid\\":\\"$head\\",\\"baseRefName\\":\\"main\\"}" ;;
esac`;

export function fakeGh(t: Cleanup, script: string): FakeGh {
  const bin = tempFolder(t, "tutti-gh-");
  const said = join(bin, "said");
  const write = (text: string): void =>
    writeFileSync(join(bin, "gh"), `#!/bin/sh\nsaid='${said}'\n${text}\n`, { mode: 0o700 });
  write(script);
  repositoryAt(bin).git("init", "-q", "--bare", "origin.git");
  return { write, origin: join(bin, "origin.git"), said, path: `${bin}${delimiter}${process.env["PATH"] ?? ""}` };
}
