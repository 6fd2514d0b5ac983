// `tutti trust`: shows the config and the policy of a project, its settings for coding agents or its MCP servers, and records that they may be used.
import { z } from "zod";

import { placed } from "../../protocol/routing/read-policy-file.ts";
import type { Host } from "../../host/host.ts";
import type { ConfigSettings, ConfigView, PolicyFileView, Project } from "../../host/project.ts";
import { argvLine } from "../../protocol/argv-line.ts";
import { TuttiError } from "../../protocol/error.ts";
import { showServers, toolLine } from "../terminal/server-lines.ts";
import { givenFolder } from "../given-folder.ts";
import { stateFolder } from "../state-folder.ts";
import { printable, printableName } from "../terminal/printable.ts";
import { writeJson, writeLine } from "../terminal/screen.ts";
import { settingLines } from "../terminal/setting-lines.ts";
import { bold, dim } from "../terminal/style.ts";

export interface TrustOptions {
  readonly show?: boolean;
  readonly list?: boolean;
  readonly revoke?: boolean;
  /** About the repository's settings for coding agents instead of the config. */
  readonly settings?: boolean;
  /** About the MCP servers instead of the config. */
  readonly servers?: boolean;
  readonly state?: string;
  readonly json?: boolean;
}

export async function trustCommand(host: Host, given: string | undefined, options: TrustOptions): Promise<void> {
  const state = stateFolder(options.state);
  if ([options.show, options.list, options.revoke].filter((each) => each === true).length > 1) {
    throw new TuttiError("usage", "give one of --show, --list and --revoke");
  }
  if (options.settings === true && options.servers === true) {
    throw new TuttiError("usage", "give one of --settings and --servers");
  }
  if ((options.settings === true || options.servers === true) && (options.list === true || options.revoke === true)) {
    throw new TuttiError(
      "usage",
      "--list and --revoke are about the config, the settings and the servers together; leave --settings and --servers out",
    );
  }
  if (options.list === true) return listTrusted(host, state, options);
  const project = await host.openProject(givenFolder(given), { state });
  if (options.revoke === true) {
    const revoked = await project.revokeTrust();
    const said = revoked ? "is no longer trusted; running tasks keep what they began with" : "was not trusted";
    return options.json === true ? writeJson({ revoked }) : writeLine(`${printableName(project.folder)} ${said}`);
  }
  if (options.settings === true) return trustSettings(project, options);
  if (options.servers === true) return trustServers(project, options);
  const config = await project.config();
  const policy = await project.policyFile();
  if (config === undefined && policy === undefined) {
    if (options.json === true) return writeLine("null");
    return writeLine(
      `${printableName(project.folder)} has neither a config nor a policy, so there is nothing to trust; --revoke forgets one that was trusted`,
    );
  }
  if (options.json !== true) {
    if (config !== undefined) await show(config);
    if (policy !== undefined) await showPolicy(policy);
  }
  if (options.show === true) {
    return options.json === true ? writeJson({ ...config, ...(policy === undefined ? {} : { policy }) }) : undefined;
  }
  const settings = config === undefined ? undefined : await project.trust(config.hash);
  if (policy !== undefined) await project.trustPolicy(policy.hash);
  if (options.json === true) {
    return writeJson({
      ...(config === undefined ? {} : { ...config, trusted: true, settings }),
      ...(policy === undefined ? {} : { policy: { ...policy, trusted: true } }),
    });
  }
  if (settings !== undefined) await tell(settings);
  if (policy !== undefined)
    await writeLine("the policy is trusted from now on, with this content, for goals that start");
}

async function showPolicy({ file, hash, trusted, problems }: PolicyFileView): Promise<void> {
  await writeLine(`${bold(printableName(file))} ${dim(trusted ? "trusted" : "not trusted")}`);
  await writeLine(`  sha256    ${hash}`);
  for (const problem of problems)
    await writeLine(`  ${problem.level.padEnd(9)} ${placed(printableName(file), problem)}`);
}

/** Sessions of coding agents see the settings that were shown here, in exactly this version. */
async function trustSettings(project: Project, { show: onlyShow, json }: TrustOptions): Promise<void> {
  const shown = await project.agentSettings();
  const refused = shown.files.filter(({ hash }) => hash === null);
  if (json !== true) {
    for (const { path, text, trusted } of shown.files) {
      await writeLine(`${bold(printableName(path))} ${dim(trusted ? "trusted" : "not trusted")}`);
      for (const line of text.split("\n")) await writeLine(`  ${printable(line)}`);
    }
  }
  if (onlyShow === true) return json === true ? writeJson(shown) : undefined;
  if (refused.length > 0) {
    const names = refused.map(({ path }) => printableName(path)).join(", ");
    throw new TuttiError("refused", `nothing was trusted: the whole content of ${names} cannot be read`);
  }
  await project.trustAgentSettings(shown);
  if (json === true) return writeJson({ ...shown, files: shown.files.map((file) => ({ ...file, trusted: true })) });
  await writeLine(
    shown.files.length === 0
      ? `${printableName(shown.project)} has no settings for coding agents`
      : `sessions of coding agents see these files from now on, with this content; programs that they name are not checked`,
  );
}

/** Agents get the tools of the servers that were shown here, as they are now. To know the tools, each server is started. */
async function trustServers(project: Project, { show: onlyShow, json }: TrustOptions): Promise<void> {
  const shown = await project.servers();
  if (json !== true) await showServers(shown);
  if (onlyShow === true) return json === true ? writeJson(shown) : undefined;
  const tried = await project.trustServers(shown);
  if (json === true) return writeJson({ ...shown, trusted: tried });
  if (tried.length === 0) return writeLine(`${printableName(project.folder)} has no MCP servers`);
  await writeLine("these servers are trusted from now on, with these tools:");
  for (const { name, tools, problems } of tried) {
    await writeLine(`  ${bold(name)} ${dim(tools === null ? "did not start" : `${tools.length} tools`)}`);
    for (const tool of tools ?? []) await writeLine(`    ${toolLine(tool)}`);
    for (const problem of problems) await writeLine(`    ${printable(problem)}`);
  }
}

async function listTrusted(host: Host, state: string, { json }: TrustOptions): Promise<void> {
  const trusted = await host.trustedConfigs(state);
  const settings = await host.trustedSettings(state);
  const servers = await host.trustedServers(state);
  if (json === true) return writeJson([...trusted, ...settings, ...servers]);
  for (const { folder, hash, at } of trusted) {
    await writeLine(`${printableName(folder)} ${dim(`${contentName(hash)}, since ${new Date(at).toISOString()}`)}`);
  }
  for (const { folder, path, hash, at } of settings) {
    const when = `sha256 ${hash.slice(0, 12)}, since ${new Date(at).toISOString()}`;
    await writeLine(`${printableName(folder)} ${printableName(path)} ${dim(`for coding agents, ${when}`)}`);
  }
  for (const { folder, server, hash, at, tools } of servers) {
    const when = `sha256 ${hash.slice(0, 12)}, since ${new Date(at).toISOString()}`;
    const whose = folder === "" ? "your own config" : printableName(folder);
    await writeLine(`${whose} ${server} ${dim(`MCP server with ${tools} tools, ${when}`)}`);
  }
  if (trusted.length + settings.length + servers.length === 0) await writeLine("nothing is trusted");
}

function contentName(hash: string): string {
  if (hash === "none") return "without a config";
  return hash.startsWith("policy:") ? `policy, sha256 ${hash.slice(7, 19)}` : `config, sha256 ${hash.slice(0, 12)}`;
}

async function show({ folder, file, hash, files, packages, trusted, sets, servers }: ConfigView): Promise<void> {
  await writeLine(`${bold(printableName(file))} ${dim(trusted ? "trusted" : "not trusted")}`);
  await writeLine(`  sha256    ${hash}`);
  await writeLine(`  files     ${files.map(printableName).join(", ")} ${dim(`in ${printableName(folder)}`)}`);
  if (packages.length > 0) await writeLine(`  packages  ${packages.map(printableName).join(", ")}`);
  for (const line of servers) await writeLine(`  server    ${printable(line)}`);
  if (typeof sets === "string") return writeLine(`  sets      ${printable(sets)}`);
  const lines = settingLines(sets);
  if (lines.length === 0) return writeLine("  sets      nothing");
  await writeLine("  sets");
  for (const line of lines) await writeLine(`    ${printable(line)}`);
}

async function tell(settings: ConfigSettings): Promise<void> {
  const { tools, runners, approvals, providers, default_model, workspaces, checks } = settings;
  const listed = tools.map(({ name, effects }) => `${name} (${effects.join(", ")})`).join(", ");
  const rows = [
    ...(listed === "" ? [] : [`  tools      ${listed}`]),
    ...(runners.length === 0 ? [] : [`  runners    ${runners.join(", ")}`]),
    ...settingLines(approvals).map((line, at) => `  ${(at === 0 ? "approvals" : "").padEnd(9)}  ${printable(line)}`),
    ...checks.map(
      ({ name, run }) =>
        `  check      ${printableName(name)} ${dim(printableName(typeof run === "string" ? run : argvLine(run)))}`,
    ),
    ...(default_model === null ? [] : [`  default    ${printableName(default_model)}`]),
    ...(providers.length === 0 ? [] : [`  providers  ${printableName(providers.join(", "))}`]),
    ...workspaceLines(workspaces).map((line) => `  ${line}`),
  ];
  await writeLine(`it is trusted from now on, with this content${rows.length === 0 ? "" : ":"}`);
  for (const row of rows) await writeLine(row);
}

const Workspaces = z.object({
  branch: z.string().optional().catch(undefined),
  commits: z.string().optional().catch(undefined),
  copy: z.array(z.string()).default([]).catch([]),
  setup: z
    .array(
      z.object({
        command: z.array(z.string()),
        network: z.boolean().default(false).catch(false),
        lock: z.array(z.string()).default([]).catch([]),
      }),
    )
    .default([])
    .catch([]),
});

/** How workspaces are made, and above all which programs run in them: nothing of that is hidden in a long line. */
function workspaceLines(given: unknown): string[] {
  const found = Workspaces.safeParse(given).data;
  if (found === undefined) return [];
  const { branch, commits, copy, setup } = found;
  const made = [
    ...(branch === undefined ? [] : [`branches ${branch}`]),
    ...(commits === undefined ? [] : [`commits by ${commits}`]),
    ...(copy.length === 0 ? [] : [`copies of ${copy.join(", ")}`]),
  ];
  return [
    ...(made.length === 0 ? [] : [`workspaces ${printableName(made.join("; "))}`]),
    ...setup.map(({ command, network, lock }) => {
      const how = `${network ? "with" : "without"} the network${lock.length === 0 ? "" : `, kept by ${lock.join(", ")}`}`;
      return `setup      ${printableName(argvLine(command))} ${dim(printableName(how))}`;
    }),
  ];
}
