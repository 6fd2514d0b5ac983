// The four real coding agents that Tutti is tried with: pinned, installed outside of the project, and pointed at a local model.

import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

import { builtinProfiles, type Profile } from "../../src/runner/acp/profile.ts";
import type { Wire } from "../support/model-server-wires.ts";

export type AgentName = "claude" | "codex" | "gemini" | "opencode";

interface CodingAgent {
  /** The npm package with its version. */
  readonly package: string;
  readonly wire: Wire;
  /** What of its profile points it at the model server. */
  pointAt(origin: string): Partial<Profile>;
}

const key = "a-key-of-a-test";

const codexConfig = (origin: string): string => `model = "gpt-5"
model_provider = "local"
[model_providers.local]
name = "local"
base_url = "${origin}/v1"
env_key = "LOCAL_KEY"
wire_api = "responses"
`;

export const codingAgents: Readonly<Record<AgentName, CodingAgent>> = {
  claude: {
    package: "@agentclientprotocol/claude-agent-acp@0.99.1",
    wire: "anthropic",
    pointAt: (origin) => ({ env: { ANTHROPIC_BASE_URL: origin, ANTHROPIC_API_KEY: key } }),
  },
  codex: {
    package: "@agentclientprotocol/codex-acp@2.6.0",
    wire: "openai",
    pointAt: (origin) => ({ env: { LOCAL_KEY: key }, files: { ".codex/config.toml": codexConfig(origin) } }),
  },
  gemini: {
    package: "@google/gemini-cli@0.61.0",
    wire: "google",
    pointAt: (origin) => ({
      env: { GOOGLE_GEMINI_BASE_URL: origin, GEMINI_API_KEY: key },
      files: { ".gemini/settings.json": '{"security": {"auth": {"selectedType": "gemini-api-key"}}}' },
    }),
  },
  opencode: {
    package: "opencode-ai@1.18.33",
    wire: "openai-compatible",
    pointAt: (origin) => {
      const options = { baseURL: `${origin}/v1`, apiKey: key };
      const local = { npm: "@ai-sdk/openai-compatible", options, models: { m: {} } };
      const config = { model: "local/m", small_model: "local/m", provider: { local } };
      return { files: { ".config/opencode/opencode.json": JSON.stringify(config) } };
    },
  },
};

/** The profile of the agent that was installed in the folder, for a session whose model is at `origin`. */
export function profileAt(name: AgentName, origin: string, folder: string): Profile {
  const builtin = builtinProfiles[name];
  if (builtin === undefined) throw new Error(`there is no profile ${name}`);
  const { env = {}, files = {} } = codingAgents[name].pointAt(origin);
  const [program, ...args] = builtin.command;
  // In the PATH it would count as a program of a project, which gets no login.
  const command: Profile["command"] = [join(folder, "node_modules", ".bin", program), ...args];
  return { ...builtin, command, env: { ...builtin.env, ...env }, files: { ...builtin.files, ...files } };
}

/** The registry did not give the package, or not all of it. */
export class NotDelivered extends Error {}

const installMs = 240_000;

/** Installs the agent unless that was done before, and returns the folder that it is in. Throws `NotDelivered`. */
export async function installAgent(name: AgentName): Promise<string> {
  const { package: pinned } = codingAgents[name];
  const hash = createHash("sha256").update(`${process.version} ${pinned}`).digest("hex").slice(0, 12);
  const folder = join(homedir(), ".cache", "tutti-coding-agents", `${name}-${hash}`);
  if (existsSync(folder)) return folder;
  const fresh = `${folder}.${process.pid}`;
  mkdirSync(fresh, { recursive: true });
  writeFileSync(join(fresh, "package.json"), '{ "private": true }\n');
  try {
    const npm = ["install", "--no-audit", "--no-fund", "--loglevel=error", pinned];
    await promisify(execFile)("npm", npm, { cwd: fresh, timeout: installMs, killSignal: "SIGKILL" });
    const program = builtinProfiles[name]?.command[0] ?? "";
    if (!existsSync(join(fresh, "node_modules", ".bin", program))) throw new Error(`it has no program ${program}`);
    renameSync(fresh, folder);
  } catch (thrown) {
    rmSync(fresh, { recursive: true, force: true });
    // Another process may have been faster.
    if (existsSync(folder)) return folder;
    const why = thrown instanceof Error ? thrown.message : String(thrown);
    throw new NotDelivered(`${pinned} could not be installed from the npm registry: ${why}`, { cause: thrown });
  }
  return folder;
}
