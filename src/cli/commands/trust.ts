// `tutti trust`: shows what the config of a project consists of, and records that it may be used.
import { z } from "zod";

import type { Host } from "../../host/host.ts";
import type { ConfigSettings, ConfigView } from "../../host/project.ts";
import { TuttiError } from "../../protocol/error.ts";
import { givenFolder } from "../given-folder.ts";
import { stateFolder } from "../state-folder.ts";
import { printableName } from "../terminal/printable.ts";
import { writeJson, writeLine } from "../terminal/screen.ts";
import { bold, dim } from "../terminal/style.ts";

export interface TrustOptions {
  readonly show?: boolean;
  readonly list?: boolean;
  readonly revoke?: boolean;
  readonly state?: string;
  readonly json?: boolean;
}

export async function trustCommand(host: Host, given: string | undefined, options: TrustOptions): Promise<void> {
  const state = stateFolder(options.state);
  if ([options.show, options.list, options.revoke].filter((each) => each === true).length > 1) {
    throw new TuttiError("usage", "give one of --show, --list and --revoke");
  }
  if (options.list === true) return listTrusted(host, state, options);
  const project = await host.openProject(givenFolder(given), { state });
  if (options.revoke === true) {
    const revoked = await project.revokeTrust();
    const said = revoked ? "is no longer trusted; running tasks keep what they began with" : "was not trusted";
    return options.json === true ? writeJson({ revoked }) : writeLine(`${printableName(project.folder)} ${said}`);
  }
  const config = await project.config();
  if (config === undefined) {
    if (options.json === true) return writeLine("null");
    return writeLine(
      `${printableName(project.folder)} has no config, so there is nothing to trust; --revoke forgets one that was trusted`,
    );
  }
  if (options.json !== true) await show(config);
  if (options.show === true) return options.json === true ? writeJson(config) : undefined;
  const settings = await project.trust(config.hash);
  if (options.json === true) return writeJson({ ...config, trusted: true, settings });
  await tell(settings);
}

async function listTrusted(host: Host, state: string, { json }: TrustOptions): Promise<void> {
  const trusted = await host.trustedConfigs(state);
  if (json === true) return writeJson(trusted);
  for (const { folder, hash, at } of trusted) {
    await writeLine(
      `${printableName(folder)} ${dim(`${hash === "none" ? "without a config" : `sha256 ${hash.slice(0, 12)}`}, since ${new Date(at).toISOString()}`)}`,
    );
  }
  if (trusted.length === 0) await writeLine("no config is trusted");
}

async function show({ folder, file, hash, files, packages, trusted, sets }: ConfigView): Promise<void> {
  await writeLine(`${bold(printableName(file))} ${dim(trusted ? "trusted" : "not trusted")}`);
  await writeLine(`  sha256    ${hash}`);
  await writeLine(`  files     ${files.map(printableName).join(", ")} ${dim(`in ${printableName(folder)}`)}`);
  if (packages.length > 0) await writeLine(`  packages  ${packages.map(printableName).join(", ")}`);
  for (const line of workspaceLines(Object(sets)["workspaces"])) await writeLine(`  ${line}`);
  await writeLine(`  sets      ${typeof sets === "string" ? sets : JSON.stringify(sets ?? null)}`);
}

async function tell(settings: ConfigSettings): Promise<void> {
  const { tools, runners, approvals, providers, default_model, workspaces } = settings;
  await writeLine("it is trusted from now on, with this content:");
  const listed = tools.map(({ name, effects }) => `${name} (${effects.join(", ")})`).join(", ");
  await writeLine(`  tools      ${listed === "" ? "none" : listed}`);
  await writeLine(`  runners    ${runners.join(", ") || "none"}`);
  await writeLine(`  approvals  ${JSON.stringify(approvals)}`);
  await writeLine(`  models     default ${default_model ?? "not set"}; providers: ${providers.join(", ") || "none"}`);
  for (const line of workspaceLines(workspaces)) await writeLine(`  ${line}`);
}

/** Loose, because a config that is not trusted yet may have anything there. */
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
      return `setup      ${printableName(JSON.stringify(command))} ${dim(printableName(how))}`;
    }),
  ];
}
