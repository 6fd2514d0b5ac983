// `tutti models add`: sets up a server that speaks OpenAI's chat completions, such as one on this machine.
import { isRehearsalName } from "../../core/rehearsal-name.ts";
import type { Host } from "../../host/host.ts";
import type { AddedServer } from "../../host/added-server.ts";
import { TuttiError } from "../../protocol/error.ts";
import { commandLine } from "../connect.ts";
import { givenFolder } from "../given-folder.ts";
import { stateFolder } from "../state-folder.ts";
import { printableName } from "../terminal/printable.ts";
import { writeJson, writeLine, writeUnbroken } from "../terminal/screen.ts";
import { bold, dim } from "../terminal/style.ts";

export interface ModelsAddOptions {
  readonly name?: string;
  readonly model?: string;
  readonly keyEnv?: string;
  readonly offline?: boolean;
  readonly dryRun?: boolean;
  readonly timeout: number;
  readonly state?: string;
  readonly json?: boolean;
}

const mostShown = 12;

export async function modelsAddCommand(host: Host, url: string, options: ModelsAddOptions): Promise<void> {
  const { name, model, keyEnv, offline = false, dryRun = false, timeout, state, json } = options;
  if (offline && model === undefined) {
    throw new TuttiError("usage", "with --offline nobody asks the server for its models, so name one with --model");
  }
  const key = keyEnv === undefined ? undefined : keyIn(keyEnv);
  const { default_model } = await host.setup({ state: stateFolder(state), folder: givenFolder(undefined) });
  const added = await host.addModelServer({
    url,
    name,
    model,
    makeDefault: isRehearsalName(default_model),
    keyEnv,
    key,
    offline,
    dryRun,
    timeoutMs: Math.round(timeout * 1_000),
  });
  if (json === true) return writeJson({ ...added, dry_run: dryRun });
  await showAdded(added, { dryRun, standard: default_model, state });
  if (keyEnv !== undefined && !dryRun) {
    const login = commandLine(state, `models login ${added.name}`);
    await writeLine(dim(`Where ${keyEnv} is not set, as in a daemon that runs already: \`${login}\` keeps the key.`));
  }
}

function keyIn(variable: string): string {
  const key = (process.env[variable] ?? "").trim();
  if (key !== "") return key;
  throw new TuttiError("usage", `${variable} is not set in this shell; set it with \`export ${variable}=…\` first`);
}

async function showAdded(
  added: AddedServer,
  {
    dryRun,
    standard,
    state,
  }: { readonly dryRun: boolean; readonly standard: string; readonly state: string | undefined },
): Promise<void> {
  const { name, base_url, models, file } = added;
  await writeLine(`${bold(printableName(name))} ${dim(`at ${printableName(base_url)}`)}`);
  const names = models.map((model) => `${name}/${model}`);
  for (const model of names.slice(0, mostShown)) {
    await writeLine(`  ${printableName(model)}${model === added.default ? dim("  the default from now on") : ""}`);
  }
  if (names.length > mostShown) await writeLine(dim(`  and ${names.length - mostShown} more`));
  if (added.default === null)
    await writeLine(`The default stays ${printableName(standard)}; \`--model NAME\` changes it.`);
  if (added.state === "yours") {
    await writeLine(`${printableName(file)} is not rewritten, because ${added.why}. Add this to it:`);
    return writeUnbroken(JSON.stringify(added.added, null, 2));
  }
  if (added.state === "kept") await writeLine(`${printableName(file)} stays as it is: ${added.why}.`);
  else await writeLine(`${printableName(file)} ${dryRun ? "would be" : "was"} written.`);
  if (dryRun) return;
  const [first = name] = added.default === null ? names : [added.default];
  await writeLine(`Next: \`${commandLine(state, `models test ${first}`)}\` calls it.`);
}
