// Collects the values that are secret: keys of model providers, environment variables with telling names, our own keys.

import { z } from "zod";

import { parseJson } from "../../protocol/json/parse-json.ts";
import type { Secret } from "../../core/redaction/secret-matcher.ts";
import type { ModelsConfig } from "../../model/models-config.ts";
import { type Environment, providerNames, resolveProvider } from "../../model/resolve-model.ts";
import { TaskEvent } from "../../protocol/task/event.ts";

export interface SecretSources {
  readonly env: Environment;
  readonly models: ModelsConfig;
  /** Names of variables that hold a secret, even if the name does not tell. */
  readonly variables?: readonly string[];
  /** Our own keys: the admin key, the signing key in hex. */
  readonly own?: readonly Secret[];
}

/** Those that are certainly secret come first: if a value has several names, the first is shown in its place. */
export function collectSecrets({ env, models, variables = [], own = [] }: SecretSources): Secret[] {
  const named = [...variables, ...keyVariables(env, models)].flatMap((name) => valuesOf(name, env[name] ?? ""));
  const byName = Object.entries(env).flatMap(([name, value = ""]) => {
    const own = isSecretName(name) && looksSecret(name, value, env) ? valuesOf(name, value) : [];
    return [...own, ...passwordsInUrls(name, value)];
  });
  return [...own, ...named, ...headerSecrets(models), ...byName];
}

function keyVariables(env: Environment, config: ModelsConfig): string[] {
  return providerNames(config).flatMap((name) => {
    try {
      return resolveProvider({ config, env }, name).keyEnv;
    } catch {
      // The provider cannot be used, so its key is not used either. Whoever asks for a model of it gets the error.
      return [];
    }
  });
}

/** The config should hold no keys, but a header in it may. */
function headerSecrets({ providers }: ModelsConfig): Secret[] {
  return Object.entries(providers).flatMap(([provider, { headers = {} }]) =>
    Object.entries(headers)
      .filter(([name]) => isSecretName(name))
      .flatMap(([name, value]) => valuesOf(`${provider} ${name}`, value)),
  );
}

const secretWords = new Set(
  "KEY KEYS APIKEY TOKEN TOKENS SECRET SECRETS PASSWORD PASSWORDS PASSWD PASSPHRASE PASS PWD CREDENTIAL CREDENTIALS AUTH AUTHORIZATION DSN PRIVATE COOKIE COOKIES JWT BEARER PAT".split(
    " ",
  ),
);
const secretEndings = /(?:API|ACCESS|AUTH|SECRET|PRIVATE|SIGNING)KEY$|(?:TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE)$/;
/** A variable with this in its name is secret even if its value is a plain word. */
const certainlySecret = /PASS|SECRET/;

/** Decides by the parts of the name: `SSH_AUTH_SOCK`, `x-api-key`, `clientSecret`, `PGPASSWORD`, but not `AUTHOR` or `KEYBOARD`. */
function isSecretName(name: string): boolean {
  const parts = name
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2")
    .toUpperCase()
    .split(/[^A-Z0-9]+/);
  return parts.some((part) => secretWords.has(part) || secretEndings.test(part));
}

const plainValues = /^(?:true|false|yes|no|on|off|none|null|undefined|enabled|disabled|default|required|optional)$/i;
/** Words, perhaps joined by dashes: a setting, not a key. */
const words = /^[a-z]+(?:[_.-][a-z]+)*$/i;
/** A size, a date, a version, an address with its port. */
const figures = /^(?:\d{1,10}|[a-z.-]+:\d{1,5}|\d{1,4}(?:[.:T-]\d{1,4})+Z?)$/i;
const maxPlainLength = 24;

function looksSecret(name: string, raw: string, env: Environment): boolean {
  const value = raw.trim();
  if (value === "" || plainValues.test(value)) return false;
  if (isPathList(value) || isPlainUrl(value)) return false;
  if (["USER", "LOGNAME", "USERNAME", "HOME", "HOSTNAME"].some((own) => env[own] === value)) return false;
  const isPlain = value.length <= maxPlainLength && (words.test(value) || figures.test(value));
  // A password may be a plain word. If it is a word of our own records, redacting it would make them unreadable.
  return !isPlain || (certainlySecret.test(name.toUpperCase()) && !isOwnWord(value));
}

/** One path or a list of paths: the file there may be secret, its path is not. */
function isPathList(value: string): boolean {
  return value
    .split(":")
    .every((part) => /^(?:~|\.{1,2})?\/(?!\/)\S*$|^[A-Za-z]:\\\S*$/.test(part) && !/[+=]/.test(part));
}

/** A URL without a user name and without a query. */
function isPlainUrl(value: string): boolean {
  if (!/^[a-z][a-z0-9+.-]*:\/\/\S+$/i.test(value) || !URL.canParse(value)) return false;
  const { username, search } = new URL(value);
  return username === "" && search === "";
}

let ownWords: string | undefined;

/** True if the value occurs in the JSON schema of events, that is, among the words that records are made of. */
function isOwnWord(value: string): boolean {
  ownWords ??= JSON.stringify(z.toJSONSchema(TaskEvent, { unrepresentable: "any" }));
  return ownWords.includes(value);
}

const minLineLength = 16;

/** The value, and its parts that are secret by themselves: what follows `Bearer`, lines of a PEM key, fields of JSON. */
function valuesOf(name: string, raw: string): Secret[] {
  const value = raw.trim();
  const parts = [value, /^(?:bearer|basic|token)\s+(\S+)$/i.exec(value)?.[1] ?? ""];
  for (const line of value.split(/\r?\n|\\n/)) {
    if (line !== value && line.length >= minLineLength && !line.startsWith("-----")) parts.push(line);
  }
  return [...parts.map((part) => ({ name, value: part })), ...fieldsOf(name, value)].filter(
    (each) => each.value !== "",
  );
}

/** Credentials are often a JSON document in one variable. */
function fieldsOf(name: string, value: string): Secret[] {
  const fields = value.startsWith("{") ? parseJson(value) : undefined;
  if (typeof fields !== "object" || fields === null) return [];
  return Object.entries(fields).flatMap(([field, part]: [string, unknown]) =>
    typeof part === "string" && isSecretName(field) ? valuesOf(`${name} ${field}`, part) : [],
  );
}

/** Passwords in `scheme://user:password@host`, as written and percent-decoded. */
function passwordsInUrls(name: string, value: string): Secret[] {
  const found = value.matchAll(/[a-z][a-z0-9+.-]{0,31}:\/\/[^\s/:@?#]{0,256}:([^\s/@]{1,1024})@/gi);
  return [...found].flatMap(({ 1: password = "" }) => {
    return [...new Set([password, decoded(password)])].map((each) => ({ name: `${name} password`, value: each }));
  });
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
