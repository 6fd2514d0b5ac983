// What `tutti models add` does: asks a server for its models and sets it up in the user's own config, whole or not at all.

import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { zoneOfHost } from "../../core/address-zone.ts";
import { errno } from "../../core/errno.ts";
import { replacePrivateFile } from "../../files/private-file.ts";
import type { AddedServer, AddServerOptions } from "../../host/added-server.ts";
import type { ModelsConfig } from "../../model/models-config.ts";
import { providerNames, resolveProvider } from "../../model/resolve-model.ts";
import { TuttiError } from "../../protocol/error.ts";
import { readWrittenJson } from "../../protocol/json/written-json.ts";
import { isData } from "./config-files.ts";
import { usualServerName } from "./detect-servers.ts";
import { listServerModels } from "./list-server-models.ts";
import { parseConfig } from "./project-config.ts";
import { readUserFiles } from "./user-config.ts";

type Entries = Readonly<Record<string, unknown>>;

const configName = "tutti.config.json";

export async function addModelServer(home: string, options: AddServerOptions): Promise<AddedServer> {
  const url = readUrl(options);
  const name = options.name ?? usualServerName(url);
  const found = await findModels(url, name, options);
  const { base_url, models } = found;
  const { model = models[0] } = options;
  if (options.model !== undefined && !options.offline && !models.includes(options.model)) {
    const there = models.slice(0, 10).join(", ");
    throw new TuttiError("not_found", `${base_url} has no model ${options.model}; it has: ${there}`);
  }
  const standard = options.makeDefault || options.model !== undefined ? `${name}/${model ?? ""}` : undefined;
  const provider = { kind: "openai-compatible", base_url, key_env: options.keyEnv ?? null };
  const added = {
    models: { ...(standard === undefined ? {} : { default: standard }), providers: { [name]: provider } },
  };
  const written = writeServer(home, { name, provider, standard }, options.dryRun);
  return {
    name,
    base_url,
    models: options.offline && model !== undefined ? [model] : models,
    default: standard ?? null,
    added,
    ...written,
  };
}

function readUrl({ url, key }: AddServerOptions): URL {
  const given = /^[a-z][a-z0-9+.-]*:\/\//i.test(url) ? url : `http://${url}`;
  const parsed = URL.canParse(given) ? new URL(given) : undefined;
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol)) {
    throw new TuttiError("usage", `${url} is no address of a server; give one such as http://127.0.0.1:8080/v1`);
  }
  if (parsed.username !== "" || parsed.password !== "") {
    throw new TuttiError(
      "usage",
      "the address has a password in it; leave it out, and give a key with --key-env VARIABLE",
    );
  }
  const zone = zoneOfHost(parsed.hostname);
  if (key !== undefined && parsed.protocol === "http:" && zone !== "this machine" && zone !== "private") {
    throw new TuttiError("refused", `the key would go to ${parsed.host} unencrypted; use an address with https://`);
  }
  return parsed;
}

/** A server that is named without a path answers below `/v1` as a rule. */
async function findModels(
  url: URL,
  name: string,
  { key, offline, timeoutMs, keyEnv }: AddServerOptions,
): Promise<{ readonly base_url: string; readonly models: readonly string[] }> {
  const plain = `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
  const bases = url.pathname === "/" ? [`${plain}/v1`, plain] : [plain];
  const [first = plain] = bases;
  if (offline) return { base_url: first, models: [] };
  let problem = "";
  for (const base_url of bases) {
    const limit = AbortSignal.timeout(timeoutMs);
    const answer = await listServerModels(base_url, { key, signal: limit });
    switch (answer.kind) {
      case "models":
        if (answer.models.length > 0) return { base_url, models: answer.models };
        throw new TuttiError("not_found", `the server at ${base_url} has no model; load one there, and try again`);
      case "key": {
        const variable = keyEnv ?? variableOf(name);
        const what = key === undefined ? "wants a key" : `does not accept the key in ${variable}`;
        const how = `set it with \`export ${variable}=…\`, and add \`--key-env ${variable}\` to this command`;
        throw new TuttiError("unauthorized", `the server at ${base_url} ${what}; ${how}`, { details: { variable } });
      }
      case "silent": {
        const why = limit.aborted ? `it did not answer within ${Math.round(timeoutMs / 1_000)} s` : answer.problem;
        const how = limit.aborted
          ? "give it longer with --timeout SECONDS"
          : "start the server, or correct the address";
        throw new TuttiError("unreachable", `no server could be reached at ${base_url}: ${why}; ${how}`, {
          retry: "safe",
        });
      }
      case "other":
        problem ||= `GET ${base_url}/models: ${answer.problem}`;
    }
  }
  const how = "give the address that its API begins with, such as http://127.0.0.1:8080/v1";
  throw new TuttiError("invalid_input", `this is no server that speaks OpenAI's chat completions (${problem}); ${how}`);
}

export function variableOf(name: string): string {
  return `${name.toUpperCase().replaceAll(/[^A-Z0-9]/g, "_")}_API_KEY`;
}

interface NewServer {
  readonly name: string;
  readonly provider: { readonly kind: string; readonly base_url: string; readonly key_env: string | null };
  readonly standard: string | undefined;
}

/** What is there is kept. A config that is code, or has comments, is not rewritten: the person is told what to add. */
function writeServer(home: string, server: NewServer, dryRun: boolean): Pick<AddedServer, "file" | "state" | "why"> {
  const folder = join(home, ".tutti");
  const files = readUserFiles(home);
  const file = files?.file ?? join(folder, configName);
  if (files !== undefined && !isData(files)) return { file, state: "yours", why: "it is code" };
  const read = readWrittenJson(files?.text ?? "{}");
  if (!read.ok && file.endsWith(".jsonc")) return { file, state: "yours", why: "it has comments" };
  if (!read.ok) throw new TuttiError("invalid_input", `${file} cannot be used: it ${read.problem}`);
  // Only a config that is valid as it is can be extended, and what is written is valid.
  const current = parseConfig(file, read.value, "user");
  const next = withServer(entriesOf(read.value), current.models, server);
  parseConfig(file, next, "user");
  const text = `${JSON.stringify(next, null, 2)}\n`;
  if (text === files?.text) return { file, state: "kept", why: "it has this server already" };
  if (dryRun) return { file, state: "written", why: "" };
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (files !== undefined && readFileSync(file, "utf8") !== files.text) {
      throw new TuttiError("conflict", `${file} has just changed; run the command again`);
    }
    replacePrivateFile(file, text);
  } catch (thrown) {
    if (thrown instanceof TuttiError) throw thrown;
    const code = errno(thrown) === "ENOSPC" ? "disk_full" : "io";
    const why = thrown instanceof Error ? thrown.message : String(thrown);
    throw new TuttiError(code, `could not write ${file}, which is as it was: ${why}`, { cause: thrown });
  }
  return { file, state: "written", why: "" };
}

function withServer(config: Entries, current: ModelsConfig, { name, provider, standard }: NewServer): Entries {
  const models = entriesOf(config["models"]);
  const providers = entriesOf(models["providers"]);
  const taken = addressOf(current, name);
  if (taken !== undefined && taken !== provider.base_url) {
    throw new TuttiError("conflict", `${name} is the server at ${taken}; give this one another name with --name NAME`);
  }
  return {
    ...config,
    models: {
      ...models,
      ...(standard === undefined ? {} : { default: standard }),
      providers: { ...providers, [name]: { ...entriesOf(providers[name]), ...provider } },
    },
  };
}

/** Where a provider with this name is already, in the config or among those that Tutti knows. */
function addressOf(config: ModelsConfig, name: string): string | undefined {
  if (!providerNames(config).includes(name)) return undefined;
  return resolveProvider({ config, env: {} }, name).baseUrl;
}

function entriesOf(value: unknown): Entries {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value))
    : {};
}
