// Keys of model providers that `tutti models login` keeps: one private file for each in the state folder, or sealed in the database of a cluster.

import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

import type { Secret } from "../../core/redaction/secret-matcher.ts";
import { readPrivateFile, replacePrivateFile } from "../../files/private-file.ts";
import { refuseSharedFolder } from "../../files/private-folder.ts";
import { TuttiError } from "../../protocol/error.ts";
import { documentsOf } from "../documents/documents-of.ts";
import { sealedKeys } from "./sealed-keys.ts";

export interface ProviderKeys {
  /** Undefined when none is kept. Throws when others can read it, or when it cannot be opened. */
  readonly get: (provider: string) => string | undefined;
  /** The providers that have a key here. */
  list(): string[];
  put(provider: string, key: string): Promise<void>;
  /** False when there was none. */
  remove(provider: string): Promise<boolean>;
}

/** The names that a config may give to providers; none of them leads out of the folder. */
const providerName = /^[a-z0-9][a-z0-9._-]*$/i;
const ending = ".key";
const largestKey = 4_096;

/** `onKey` is called with every key before it is returned for the first time, so that it can be redacted. */
export function openProviderKeys(state: string, onKey?: (secret: Secret) => void): ProviderKeys {
  const told = new Set<string>();
  // Asked each time: a node has the documents of its cluster only when it has joined.
  const kept = (): ProviderKeys => {
    const documents = documentsOf(state);
    return documents.key === undefined ? keyFiles(state) : sealedKeys(documents, documents.key);
  };
  return {
    get(provider) {
      if (!providerName.test(provider)) return undefined;
      const value = kept().get(provider);
      if (value === undefined || value === "") return undefined;
      if (!told.has(value)) onKey?.({ name: `${provider} key`, value });
      told.add(value);
      return value;
    },
    list: () =>
      kept()
        .list()
        .filter((name) => providerName.test(name)),
    async put(provider, key) {
      if (!providerName.test(provider)) throw new TuttiError("invalid_input", `${provider} is no name of a provider`);
      if (!/^[\x21-\x7e]+$/.test(key) || key.length > largestKey) {
        throw new TuttiError(
          "invalid_input",
          "that is no key: a key is one line of visible characters, without spaces",
        );
      }
      await kept().put(provider, key);
    },
    remove: async (provider) => providerName.test(provider) && kept().remove(provider),
  };
}

/** Those in the files of a state folder, whether or not it is that of a node. */
export function keyFiles(state: string): ProviderKeys {
  const folder = join(state, "provider-keys");
  const fileOf = (provider: string): string => join(folder, `${provider}${ending}`);
  return {
    get: (provider) => readPrivateFile(fileOf(provider))?.trim(),
    list() {
      try {
        const names = readdirSync(folder).filter((name) => name.endsWith(ending));
        return names.map((name) => name.slice(0, -ending.length)).filter((name) => providerName.test(name));
      } catch (thrown) {
        const code = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
        if (code === "ENOENT" || code === "ENOTDIR") return [];
        throw new TuttiError("io", `${folder} cannot be read; make it readable for you, or remove it`, {
          cause: thrown,
        });
      }
    },
    async put(provider, key) {
      refuseSharedFolder(state);
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      replacePrivateFile(fileOf(provider), `${key}\n`);
    },
    async remove(provider) {
      if (readPrivateFile(fileOf(provider)) === undefined) return false;
      rmSync(fileOf(provider), { force: true });
      return true;
    },
  };
}

/** Where a process finds the keys of providers: its environment first, then the files of its state folder. */
export interface KeySources {
  readonly env: NodeJS.ProcessEnv;
  readonly storedKey: ProviderKeys["get"];
}

export function keySources(state: string): KeySources {
  return { env: process.env, storedKey: openProviderKeys(state).get };
}
