// Variables that decide which code programs load or where they look for it. A repository's server sets none of them.

interface Family {
  /** What the names begin with, in capitals; a name without `*` is meant as it stands. */
  readonly names: readonly string[];
  /** Whose they are, as the end of "it is read by". */
  readonly readBy: string;
}

/**
 * Whole families, because new members come with new versions. The list cannot be complete: what holds for every variable is
 * that it is shown before anybody agrees, and that it acts only on the server, which is confined.
 */
const families: readonly Family[] = [
  { names: ["LD_*", "DYLD_*", "GLIBC_TUNABLES", "GCONV_PATH", "LOCPATH", "NLSPATH"], readBy: "the system's loader" },
  { names: ["PATH", "HOME", "TMPDIR", "TUTTI_*"], readBy: "Tutti and every program" },
  {
    names: ["BASH_*", "ENV", "SHELL", "SHELLOPTS", "BASHOPTS", "PS4", "IFS", "CDPATH", "ZDOTDIR", "PROMPT_COMMAND"],
    readBy: "shells",
  },
  { names: ["NODE_*", "NPM_*", "BUN_*", "DENO_*", "YARN_*", "PNPM_*", "COREPACK_*"], readBy: "Node and its tools" },
  { names: ["TS_NODE_*", "TSX_*", "ELECTRON_*"], readBy: "tools of Node" },
  {
    names: ["PYTHON*", "PIP_*", "PIPX_*", "UV_*", "VIRTUAL_ENV", "CONDA_*", "POETRY_*"],
    readBy: "Python and its tools",
  },
  {
    names: ["PERL*", "RUBY*", "GEM_*", "BUNDLE_*", "BUNDLER_*", "LUA_*", "PHPRC", "PHP_*"],
    readBy: "script languages",
  },
  { names: ["JAVA_*", "JDK_*", "_JAVA_OPTIONS", "CLASSPATH", "MAVEN_*", "GRADLE_*", "JRUBY_*"], readBy: "Java" },
  { names: ["DOTNET_*", "CORECLR_*", "COMPLUS_*", "COR_*", "MONO_*", "NUGET_*"], readBy: ".NET" },
  {
    names: ["GO*", "CGO_*", "CARGO_*", "RUSTC_*", "RUSTUP_*", "RUSTFLAGS"],
    readBy: "compilers that run what they build",
  },
  {
    names: ["GIT_*", "SSH_*", "EDITOR", "VISUAL", "PAGER", "BROWSER", "LESSOPEN", "LESSCLOSE"],
    readBy: "git and shells",
  },
  { names: ["MAKEFLAGS", "MAKEFILES", "CC", "CXX", "DOCKER_*", "XDG_*"], readBy: "programs that start others" },
  {
    names: ["OPENSSL_*", "QT_*", "GTK_*", "GIO_*", "GST_*", "VK_*", "LIBGL_*", "R_*"],
    readBy: "libraries with plugins",
  },
];

/** Members of the families that say how much is printed and the like, and load nothing. */
const harmless: ReadonlySet<string> = new Set([
  "NODE_ENV",
  "NODE_NO_WARNINGS",
  "PYTHONUNBUFFERED",
  "PYTHONUTF8",
  "PYTHONIOENCODING",
  "PYTHONDONTWRITEBYTECODE",
]);

export interface LoaderVariable {
  readonly name: string;
  readonly readBy: string;
}

/** Those among the names, in whatever case: some programs read either. */
export function loaderVariables(names: readonly string[]): LoaderVariable[] {
  return names.flatMap((name) => {
    const capitals = name.toUpperCase();
    if (harmless.has(capitals)) return [];
    const family = families.find((each) => each.names.some((pattern) => isOf(pattern, capitals)));
    return family === undefined ? [] : [{ name, readBy: family.readBy }];
  });
}

function isOf(pattern: string, name: string): boolean {
  return pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}
