// Which values of this process are secrets: the providers' keys, what the environment holds under telling names, our own.

import { z } from "zod";

import type { Secret } from "../../core/secret-matcher.ts";
import type { ModelsConfig } from "../../model/models-config.ts";
import { type Environment, providerNames, resolveProvider } from "../../model/resolve-model.ts";
import { TaskEvent } from "../../protocol/task/event.ts";

export interface SecretSources {
  readonly env: Environment;
  readonly models: ModelsConfig;
  /** Variables that hold a secret whatever they are called. */
  readonly variables?: readonly string[];
  /** Our own: the admin key, the signing key in hex. */
  readonly own?: readonly Secret[];
}

/** Those that are surely secret come first: the first name of a value is the one that is shown in its place. */
export function collectSecrets({ env, models, variables = [], own = [] }: SecretSources): Secret[] {
  const named = [...variables, ...keyVariables(env, models)].flatMap((name) => valuesOf(name, env[name] ?? ""));
  const told = Object.entries(env).flatMap(([name, value = ""]) => {
    const taken = isSecretName(name) && looksSecret(name, value, env) ? valuesOf(name, value) : [];
    return [...taken, ...passwordsInUrls(name, value)];
  });
  return [...own, ...named, ...headerSecrets(models), ...told];
}

function keyVariables(env: Environment, config: ModelsConfig): string[] {
  return providerNames(config).flatMap((name) => {
    try {
      return resolveProvider({ config, env }, name).keyEnv;
    } catch {
      // Told when a model of it is asked for; its key is none that we could use.
      return [];
    }
  });
}

/** A header in the config may hold a key after all. */
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
/** A name with one of these says itself that its value is one, even if the value is a plain word. */
const surelySecret = /PASS|SECRET/;

/** By the parts of the name: `SSH_AUTH_SOCK`, `x-api-key`, `clientSecret`, `PGPASSWORD`, but not `AUTHOR` or `KEYBOARD`. */
function isSecretName(name: string): boolean {
  const parts = name
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2")
    .toUpperCase()
    .split(/[^A-Z0-9]+/);
  return parts.some((part) => secretWords.has(part) || secretEndings.test(part));
}

const plainValues = /^(?:true|false|yes|no|on|off|none|null|undefined|enabled|disabled|default|required|optional)$/i;
/** Words, perhaps with dashes: a setting, not a key. */
const words = /^[a-z]+(?:[_.-][a-z]+)*$/i;
/** A size, a date, a version, an address with its port. */
const figures = /^(?:\d{1,10}|[a-z.-]+:\d{1,5}|\d{1,4}(?:[.:T-]\d{1,4})+Z?)$/i;
const longestWords = 24;

function looksSecret(name: string, raw: string, env: Environment): boolean {
  const value = raw.trim();
  if (value === "" || plainValues.test(value)) return false;
  if (isLonePath(value) || isPlainUrl(value)) return false;
  if (["USER", "LOGNAME", "USERNAME", "HOME", "HOSTNAME"].some((own) => env[own] === value)) return false;
  const isPlain = value.length <= longestWords && (words.test(value) || figures.test(value));
  // A password may be a word, but not one that our own records are written with.
  return !isPlain || (surelySecret.test(name.toUpperCase()) && !isOwnWord(value));
}

/** One path or a list of them: what is at the end of it may be secret, where it is is not. */
function isLonePath(value: string): boolean {
  return value
    .split(":")
    .every((part) => /^(?:~|\.{1,2})?\/(?!\/)\S*$|^[A-Za-z]:\\\S*$/.test(part) && !/[+=]/.test(part));
}

/** An address with nobody's name and no question in it. */
function isPlainUrl(value: string): boolean {
  if (!/^[a-z][a-z0-9+.-]*:\/\/\S+$/i.test(value) || !URL.canParse(value)) return false;
  const { username, search } = new URL(value);
  return username === "" && search === "";
}

let ownWords: string | undefined;

/** A value that is part of them would make every record unreadable. */
function isOwnWord(value: string): boolean {
  ownWords ??= JSON.stringify(z.toJSONSchema(TaskEvent, { unrepresentable: "any" }));
  return ownWords.includes(value);
}

const shortestLine = 16;

/** The value, and the parts of it that are secret alone: after the scheme of a header, lines of a key, fields of JSON. */
function valuesOf(name: string, raw: string): Secret[] {
  const value = raw.trim();
  const parts = [value, /^(?:bearer|basic|token)\s+(\S+)$/i.exec(value)?.[1] ?? ""];
  for (const line of value.split(/\r?\n|\\n/)) {
    if (line !== value && line.length >= shortestLine && !line.startsWith("-----")) parts.push(line);
  }
  return [...parts.map((part) => ({ name, value: part })), ...fieldsOf(name, value)].filter(
    (each) => each.value !== "",
  );
}

/** Credentials are often one variable that is a JSON document. */
function fieldsOf(name: string, value: string): Secret[] {
  if (!value.startsWith("{")) return [];
  try {
    const fields: unknown = JSON.parse(value);
    if (typeof fields !== "object" || fields === null) return [];
    return Object.entries(fields).flatMap(([field, part]: [string, unknown]) =>
      typeof part === "string" && isSecretName(field) ? valuesOf(`${name} ${field}`, part) : [],
    );
  } catch {
    return [];
  }
}

/** `scheme://user:password@host`, as it is written and as it is meant. */
function passwordsInUrls(name: string, value: string): Secret[] {
  const found = value.matchAll(/[a-z][a-z0-9+.-]{0,31}:\/\/[^\s/:@?#]{0,256}:([^\s/@]{1,1024})@/gi);
  return [...found].flatMap(({ 1: password = "" }) => {
    const meant = decoded(password);
    return [...new Set([password, meant])].map((each) => ({ name: `${name} password`, value: each }));
  });
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
