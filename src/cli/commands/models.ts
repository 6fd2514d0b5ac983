// `tutti models`: lists the models, with price, key, and tool-call format.
import type { Host } from "../../host/host.ts";
import type { ModelView } from "../../protocol/api/catalog.ts";
import { givenFolder } from "../given-folder.ts";
import { missingKeys, missingKeyText } from "../missing-keys.ts";
import { stateFolder } from "../state-folder.ts";
import { warn } from "../terminal/output.ts";
import { writeJson, writeLine } from "../terminal/screen.ts";
import { bold, dim, paint } from "../terminal/style.ts";

export interface ModelsOptions {
  readonly cwd?: string;
  readonly json?: boolean;
  readonly offline?: boolean;
  readonly state?: string;
}

const perMillion = 1_000_000;

export async function modelsCommand(host: Host, options: ModelsOptions): Promise<void> {
  const { models, prices_as_of, problem } = await readModels(host, options);
  if (problem !== undefined) warn(problem);
  if (options.json === true) return writeJson(models);
  const width = Math.max(0, ...models.map(({ model }) => model.length));
  for (const model of models) await writeLine(lineOf(model, width), { hang: 4 });
  await warnOfDaemonKeys(host, options);
  await writeLine(
    dim(
      `prices are in US dollars per million tokens, input/output${prices_as_of === undefined ? "" : `, as of ${prices_as_of}`}; ` +
        "your own go into `prices` in the config; use these names for `model:` in an agent",
    ),
  );
}

interface Models {
  readonly models: readonly ModelView[];
  /** The day of the built-in prices; a daemon elsewhere does not say. */
  readonly prices_as_of?: string;
  /** Why the config of the project was not used. */
  readonly problem?: string | undefined;
}

async function readModels(host: Host, { cwd, state, offline }: ModelsOptions): Promise<Models> {
  const probe = offline !== true;
  if (host.remote !== undefined) return { models: await host.remote.catalog.models(cwd, { probe }) };
  const project = await host.openProject(givenFolder(cwd), { state: stateFolder(state) });
  return project.models({ probe });
}

function lineOf(view: ModelView, width: number): string {
  const usable = view.key && view.reachable?.ok !== false;
  const mark = usable ? paint("green", "✓") : paint("yellow", "–");
  const notes = [
    view.format,
    view.price === null
      ? "price unknown"
      : `$${view.price.input_micro_usd / perMillion}/$${view.price.output_micro_usd / perMillion}`,
    keyNote(view),
    ...(view.reachable === undefined
      ? []
      : [view.reachable.ok ? "reachable" : `not reachable: ${view.reachable.said}`]),
    ...(view.aliases.length === 0 ? [] : [`also ${view.aliases.join(", ")}`]),
  ].filter((note) => note !== "");
  const name = view.default ? bold(view.model.padEnd(width)) : view.model.padEnd(width);
  return `${mark} ${name}  ${dim(notes.join(", "))}${view.default ? " default" : ""}`;
}

function keyNote({ key, key_env, key_from, provider }: ModelView): string {
  if (key_env === null) return "";
  if (!key) return `no key: \`tutti models login ${provider}\`, or set ${key_env}`;
  return key_from === "login" ? "key from `tutti models login`" : `key from the environment`;
}

/** The list above is about this shell; the daemon has the environment that it was started with. */
async function warnOfDaemonKeys(host: Host, { state }: ModelsOptions): Promise<void> {
  if (host.remote !== undefined) return;
  const tutti = await host.connect(stateFolder(state)).catch(() => undefined);
  try {
    const setup = await tutti?.setup().catch(() => undefined);
    for (const missing of setup === undefined ? [] : missingKeys(setup)) warn(missingKeyText(missing, state));
  } finally {
    await tutti?.close();
  }
}
