// What Tutti has to know about a coding agent to run it: its command, its environment, its modes. Profiles are data, and a config can add some.

import { z } from "zod";

import { TuttiError } from "../../protocol/error.ts";

const text = z.string().refine((value) => !value.includes("\0"), "must not hold a NUL character");
const filled = text.refine((value) => value.trim() !== "", "must not be blank");
const variable = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "must be the name of a variable");
const relativePath = filled.refine(
  (path) => !path.startsWith("/") && !path.split("/").includes(".."),
  "must be a relative path without ..",
);

export const profileName = /^[A-Za-z][A-Za-z0-9_-]*$/;

export const Profile = z.strictObject({
  /** The program that speaks the Agent Client Protocol, and its arguments. */
  command: z.tuple([filled], text),
  env: z.record(variable, text).default({}),
  /** Names of variables that are passed on from the environment of Tutti. Nothing else is. */
  pass_env: z.array(variable).default([]),
  /** Files of the person's home folder that the session gets a copy of, such as the login. */
  credentials: z.array(relativePath).default([]),
  /** Further files and folders of a workspace that tell the agent what to run. */
  settings: z.array(relativePath).default([]),
  /** Files that are written into the session's own home folder. */
  files: z.record(relativePath, text).default({}),
  /** The id of the mode in which the agent asks the most. */
  mode: filled.nullable().default(null),
  /** How a model is chosen; `{model}` stands for its name. `option`: by the session option of the category `model`. */
  model: z
    .strictObject({
      args: z.array(text).default([]),
      env: z.record(variable, text).default({}),
      option: z.boolean().default(false),
    })
    .optional(),
  /** Ways to log in that need no person: the first whose variable is set, or that needs none. */
  auth: z.array(z.strictObject({ method: filled, env: variable.optional() })).default([]),
  /** The command with which a person logs in. */
  login: filled.optional(),
  /** How the program is installed. */
  install: filled.optional(),
  /** The program and arguments that print the version. */
  version: z.tuple([filled], text).optional(),
  /** Whether the agent reports what it spends in money. One that does not is asked about first, if there is a limit. */
  metered: z.boolean().default(false),
});
export type Profile = z.infer<typeof Profile>;

export const Profiles = z.record(
  z.string().regex(profileName, "must begin with a letter and have only letters, digits, - and _"),
  Profile,
);
export type Profiles = z.infer<typeof Profiles>;

export const builtinProfiles: Profiles = Profiles.parse({
  claude: {
    command: ["claude-agent-acp"],
    env: { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1" },
    pass_env: ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "CLAUDE_CODE_OAUTH_TOKEN"],
    credentials: [".claude/.credentials.json"],
    mode: "default",
    model: { env: { ANTHROPIC_MODEL: "{model}" } },
    login: "claude /login",
    install: "npm install -g @agentclientprotocol/claude-agent-acp",
    version: ["claude-agent-acp", "--version"],
    metered: true,
  },
  codex: {
    command: ["codex-acp"],
    pass_env: ["OPENAI_API_KEY", "CODEX_API_KEY", "OPENAI_BASE_URL"],
    credentials: [".codex/auth.json"],
    mode: "read-only",
    model: { args: ["-c", 'model="{model}"'] },
    auth: [{ method: "api-key", env: "OPENAI_API_KEY" }],
    login: "codex login",
    install: "npm install -g @agentclientprotocol/codex-acp",
    version: ["codex-acp", "--version"],
  },
  gemini: {
    command: ["gemini", "--acp"],
    pass_env: ["GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL"],
    credentials: [".gemini/oauth_creds.json", ".gemini/google_accounts.json"],
    mode: "default",
    model: { args: ["--model", "{model}"] },
    auth: [{ method: "gemini-api-key", env: "GEMINI_API_KEY" }, { method: "oauth-personal" }],
    login: "gemini, then /auth",
    install: "npm install -g @google/gemini-cli",
    version: ["gemini", "--version"],
  },
  opencode: {
    command: ["opencode", "acp"],
    env: {
      OPENCODE_PERMISSION: '{"*":"ask"}',
      OPENCODE_DISABLE_AUTOUPDATE: "1",
      OPENCODE_DISABLE_MODELS_FETCH: "1",
    },
    pass_env: ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENCODE_API_KEY"],
    credentials: [".local/share/opencode/auth.json"],
    model: { option: true },
    login: "opencode auth login",
    install: "npm install -g opencode-ai",
    version: ["opencode", "--version"],
  },
});

export function profileOf(profiles: Profiles, name: string): Profile {
  const found = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (found !== undefined) return found;
  const known = Object.keys(profiles).join(", ");
  throw new TuttiError("not_found", `there is no profile ${name} for the runner acp; there are: ${known}`);
}

/** The program with its arguments, and the variables of the profile, for the model. Throws when the profile knows no way to choose one. */
export function commandFor(
  name: string,
  { command, env, model: how }: Profile,
  model: string | undefined,
): { readonly argv: readonly [string, ...string[]]; readonly env: Readonly<Record<string, string>> } {
  if (model === undefined) return { argv: command, env };
  if (how === undefined) {
    throw new TuttiError(
      "invalid_input",
      `the profile ${name} does not say how to choose a model; leave the model out`,
    );
  }
  const filledIn = (template: string): string => template.replaceAll("{model}", () => model);
  const [program, ...args] = command;
  const chosen = Object.entries(how.env).map(([key, value]): [string, string] => [key, filledIn(value)]);
  return { argv: [program, ...args, ...how.args.map(filledIn)], env: { ...env, ...Object.fromEntries(chosen) } };
}
