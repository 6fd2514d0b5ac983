// The one table of protected names: each with the reason that a person is told, because a change of it may run code that nobody asked for.

export interface ProtectedNames {
  /**
   * Names of files or folders, in small letters. Everything in such a folder is protected too. With a slash: only in a
   * folder of that name. One `*` stands for any text.
   */
  readonly names: readonly string[];
  /** What happens, as a whole sentence without its full stop. */
  readonly why: string;
}

export const protectedNames: readonly ProtectedNames[] = [
  {
    why: "Tutti reads from it what it may do and which code of the project it runs",
    names: [".tutti", "tutti.config.*"],
  },
  {
    why: "git and other version control run hooks and programs that it names",
    names: [".git", ".githooks", ".hg", ".jj", ".sl"],
  },
  {
    why: "a hook of git runs what it says, at the next commit or push",
    names: [
      ".husky",
      ".huskyrc*",
      ".lefthook",
      ".lefthook.*",
      ".lefthook-local.*",
      "lefthook.*",
      "lefthook-local.*",
      ".config/lefthook.*",
      ".config/lefthook-local.*",
      ".lintstagedrc*",
      ".overcommit.yml",
      ".git-hooks",
      ".pre-commit-config.yaml",
      ".pre-commit-config.yml",
      ".simple-git-hooks.*",
      "simple-git-hooks.*",
    ],
  },
  {
    why: "another coding agent starts servers and runs hooks that it names",
    names: [
      ".aider.conf.*",
      ".amazonq",
      ".amp",
      ".augment",
      ".claude",
      ".codex",
      ".continue",
      ".copilot",
      ".crush.json",
      "crush.json",
      ".cursor",
      ".factory",
      ".gemini",
      ".goose",
      ".junie",
      ".kilocode",
      ".kiro",
      ".mcp.json",
      ".openhands",
      ".opencode",
      "opencode.json",
      "opencode.jsonc",
      ".qwen",
      ".roo",
      ".trae",
      ".windsurf",
    ],
  },
  {
    why: "an editor runs programs that it names when the folder is opened",
    names: [
      ".devcontainer",
      ".devcontainer.json",
      ".dir-locals.el",
      ".dir-locals-2.el",
      ".exrc",
      "_exrc",
      ".fleet",
      ".helix",
      ".idea",
      ".lvimrc",
      ".nvim.lua",
      ".nvimrc",
      ".theia",
      ".vim",
      ".vimrc",
      "_vimrc",
      ".vscode/mcp.json",
      ".vscode/settings.json",
      ".vscode/tasks.json",
      ".zed",
      "*.code-workspace",
      "*.sublime-project",
    ],
  },
  {
    why: "a shell runs what it says when somebody enters the folder",
    names: [
      ".autoenv",
      ".autoenv.zsh",
      ".config/mise",
      ".config/mise.*",
      ".envrc",
      ".mise",
      ".mise.*",
      ".rtx.toml",
      "mise.toml",
      "mise.*.toml",
      "mise/config.*",
    ],
  },
  {
    why: "a debugger or a console runs what it says when it is started in the folder",
    names: [".gdbinit", ".ghci", ".irbrc", ".lldbinit", ".pdbrc", ".pryrc", ".rprofile"],
  },
];
