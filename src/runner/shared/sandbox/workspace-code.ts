// Decides whether a program may run code that lies in the workspace, which a model could have written.

import { open, realpath } from "node:fs/promises";
import { basename, sep } from "node:path";

/** Programs that execute what files of the folder they run in say: interpreters, build tools, and those that start others. */
const runsFiles = new Set(
  (
    "node nodejs deno bun tsx python pypy ruby perl php lua luajit rscript r julia java javac groovy kotlin scala dotnet mono " +
    "sh bash dash ash zsh ksh mksh csh tcsh fish rbash busybox toybox pwsh elvish nu awk gawk mawk nawk sed ed ex vi vim " +
    "nvim emacs make gmake bmake cmake ctest ninja meson bazel buck cargo rustc go swift zig tcc gdb lldb npm npx pnpm " +
    "yarn just task rake ant mvn gradle sbt mix elixir erl escript ghc runghc stack cabal ocaml dune tclsh wish expect " +
    "guile racket sbcl env xargs find parallel sudo doas su nice ionice nohup setsid timeout time watch entr strace ltrace " +
    "chroot unshare nsenter ssh scp rsync tar docker podman nix direnv screen tmux script flock stdbuf systemd-run"
  ).split(" "),
);

/** The real path of the program if it is surely no code of the workspace and runs none by itself; undefined otherwise. */
export async function foreignProgram(path: string, roots: readonly string[]): Promise<string | undefined> {
  const real = await realpath(path).catch(() => undefined);
  if (real === undefined || (await isOfTask(path, roots))) return undefined;
  if ([path, real].some((file) => runsFiles.has(plainName(file)))) return undefined;
  // A script is run by an interpreter, and such programs often load the config or the plugins of the project.
  return (await isScript(real)) ? undefined : real;
}

/** Whether the file, or what it is a link to, lies in one of the folders. */
export async function isOfTask(path: string, roots: readonly string[]): Promise<boolean> {
  const real = await realpath(path).catch(() => path);
  const folders = await Promise.all(roots.map((root) => realpath(root).catch(() => root)));
  return [path, real].some((file) =>
    [...roots, ...folders].some((folder) => file === folder || file.startsWith(folder + sep)),
  );
}

/** Without the version at the end, as in `python3.12`. */
function plainName(path: string): string {
  return basename(path)
    .toLowerCase()
    .replace(/\.exe$/, "")
    .replace(/[-\d.]+$/, "");
}

/** A file that cannot be read counts as a script. */
async function isScript(path: string): Promise<boolean> {
  try {
    await using file = await open(path, "r");
    const { buffer, bytesRead } = await file.read(Buffer.alloc(2), 0, 2, 0);
    return bytesRead < 2 || buffer.toString("latin1") === "#!";
  } catch {
    return true;
  }
}
