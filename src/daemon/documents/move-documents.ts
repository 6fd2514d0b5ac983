// Carries what people agreed to, the keys of providers and the signing key between a state folder and a database that nodes share.

import { mkdirSync } from "node:fs";
import { join } from "node:path";

import type pg from "pg";

import { readKeyFile } from "../../files/key-file.ts";
import { replacePrivateFile } from "../../files/private-file.ts";
import { requireKeyCheck } from "../../store/postgres/key-check.ts";
import { type KeyPlace, clusterKeyFile, findClusterKey, ownClusterKey } from "../cluster/find-cluster-key.ts";
import { clusterKeyOn } from "../cluster/open-cluster-key.ts";
import { readSharedSigningKey, shareSigningKey, signingKeyFile } from "../operators/signing-key.ts";
import { keyFiles } from "../secrets/provider-keys.ts";
import { sealedKeys } from "../secrets/sealed-keys.ts";
import { documentsOn, ownConfigHere, personHere } from "./cluster-documents.ts";
import { fileDocuments } from "./file-documents.ts";
import { agreementDocuments } from "./merge-documents.ts";
import { projectNames } from "./project-names.ts";

type Client = Pick<pg.ClientBase, "query">;

/**
 * In the transaction of the caller. What the database has already stays. Returns what the person has to know.
 * Throws `unauthorized` when the database has another key than this folder; when it has none, one is made and kept in the folder.
 */
export async function importDocuments(client: Client, place: KeyPlace): Promise<string[]> {
  const { folder } = place;
  const { key, made } = await clusterKeyOn(client, place);
  const by = personHere();
  const documents = await documentsOn(client, { by, projects: projectNames(folder), key: () => key });
  const files = fileDocuments(folder);
  for (const agreed of agreementDocuments) {
    const { name, empty } = agreed;
    const text = files.read(name);
    if (text === undefined) continue;
    await documents.change(name, (there) => {
      return {
        after: agreed.merged(there ?? empty, text, { projectOf: (project) => documents.projectOf(project), by }),
        result: undefined,
      };
    });
  }
  const notes = made ? [newKeyNote(folder)] : [];
  const [own, shared] = [keyFiles(folder), sealedKeys(documents, () => key)];
  for (const provider of own.list()) {
    const value = own.get(provider) ?? "";
    const there = shared.get(provider);
    if (there === undefined && value !== "") await shared.put(provider, value);
    else if (there !== undefined && there !== value) {
      notes.push(`the database has another key of ${provider} than the folder, and keeps it`);
    }
  }
  const signing = await hexOfKeyFile(folder);
  if (signing !== undefined && (await shareSigningKey(documents, key, signing)) !== signing) {
    notes.push(otherSigningKey);
  }
  return notes;
}

const otherSigningKey =
  "the folder and the database have different signing keys; that of the database counts, so workers that got their tokens from the folder must be given new ones";

function newKeyNote(folder: string): string {
  return `the database had no cluster key; one was made and is in ${clusterKeyFile(folder)}. Every node needs it: \`tutti cluster-key show --state ${folder} | ssh OTHER tutti cluster-key set\`. Keep a copy: without it the provider keys in the database are lost`;
}

async function hexOfKeyFile(folder: string): Promise<string | undefined> {
  const bytes = await readKeyFile(signingKeyFile(folder));
  return bytes === undefined ? undefined : Buffer.from(bytes).toString("hex");
}

/**
 * Writes private files into `made`, which are put into the folder with the records. Every document is written, also when
 * nothing is agreed to: what the folder had before does not count any more.
 */
export async function exportDocuments(client: Client, place: KeyPlace, made: string): Promise<string[]> {
  const { folder } = place;
  const found = findClusterKey(place);
  const key = (): ReturnType<typeof ownClusterKey> => found?.key ?? ownClusterKey(folder);
  const documents = await documentsOn(client, { by: personHere(), key });
  const folders = new Map([...projectNames(folder)].map(([path, name]) => [name, path]));
  const projectOf = (name: string): string => (name === ownConfigHere() ? "" : (folders.get(name) ?? name));
  for (const agreed of agreementDocuments) {
    const { name, empty } = agreed;
    replacePrivateFile(join(made, name), agreed.merged(empty, documents.read(name) ?? empty, { projectOf }));
  }
  mkdirSync(join(made, "provider-keys"), { mode: 0o700 });
  const [shared, own] = [sealedKeys(documents, key), keyFiles(made)];
  const providers = shared.list();
  if (providers.length > 0 || documents.read("signing-key") !== undefined) {
    await requireKeyCheck(client, found?.key.check);
  }
  for (const provider of providers) await own.put(provider, shared.get(provider) ?? "");
  const signing = readSharedSigningKey(documents, key);
  if (signing === undefined) return [];
  replacePrivateFile(signingKeyFile(made), `${signing}\n`);
  const before = await hexOfKeyFile(folder);
  return before === undefined || before === signing ? [] : [otherSigningKey];
}
