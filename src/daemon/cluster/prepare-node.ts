// What a daemon does before it joins the others: it keeps how it is a node, checks the ways to and from it, and finds its key.

import { redactor } from "../../core/redaction/redact.ts";
import type { Secret } from "../../core/redaction/secret-matcher.ts";
import type { UpOptions } from "../../host/host.ts";
import { TuttiError } from "../../protocol/error.ts";
import { databaseSecrets, readDatabaseUrl, wayWarning } from "../../store/postgres/database-url.ts";
import { addressForNodes } from "../lifecycle/reachable-hosts.ts";
import type { ServiceLog } from "../operators/service-log.ts";
import { keepNodeSettings, type NodeSettings } from "../state/node-settings.ts";
import { clusterEnvironment } from "./cluster-environment.ts";
import { ChangingKey } from "./changing-key.ts";
import type { ClusterKey } from "./cluster-key.ts";
import { readNodeUrl } from "./node-fetch.ts";
import { clusterKeyFile } from "./find-cluster-key.ts";

export interface PreparedNode extends NodeSettings {
  /** It may be changed while the node works. */
  readonly key: ClusterKey;
  /** The address of the database and the key: they are shown nowhere. */
  readonly secrets: readonly Secret[];
  readonly insecure: boolean;
}

export interface PrepareOptions {
  readonly folder: string;
  readonly up: UpOptions;
  /** Where it will listen. */
  readonly at: { readonly host: string; readonly certificate: string | null; readonly insecure: boolean };
  readonly log: ServiceLog;
  /** Told of secrets before they are used for anything. */
  readonly onSecrets: (secrets: readonly Secret[]) => void;
}

/** Undefined for a daemon that is no node. Nothing has joined when this throws. */
export async function prepareNode({
  folder,
  up,
  at,
  log,
  onSecrets,
}: PrepareOptions): Promise<PreparedNode | undefined> {
  // Also when this is no node: no process that is started from here has the secrets of one.
  clusterEnvironment();
  const { keyFile, ...given } = up.database ?? {};
  const node = keepNodeSettings(folder, given);
  if (node === undefined) return undefined;
  const { address } = node;
  const known = databaseSecrets(address.url);
  onSecrets(known);
  const listening = `${at.certificate === null ? "http" : "https"}://${hostInUrl(at.host)}`;
  const url = node.advertise ?? addressForNodes(at.host, listening);
  readNodeUrl({ url, certificate: at.certificate }, { insecure: at.insecure });
  const warning = wayWarning(readDatabaseUrl(address.url));
  if (warning !== undefined) log.warn({}, warning);
  try {
    // Loaded only for a node, with the driver of the database.
    const { openClusterKey } = await import("./open-cluster-key.ts");
    const { key, text, made } = await openClusterKey({ folder, file: keyFile }, address);
    const secrets = [...known, { name: "cluster key", value: text }];
    onSecrets(secrets);
    if (made) log.warn({}, newKeyHint(folder));
    return { ...node, key: new ChangingKey(key), secrets, insecure: at.insecure };
  } catch (thrown) {
    throw withoutSecrets(thrown, known);
  }
}

function newKeyHint(folder: string): string {
  return `this is the first node of its database, and the key of the cluster is in ${clusterKeyFile(folder)}; every other node needs it: \`tutti cluster-key show | ssh OTHER tutti cluster-key set\`. Keep a copy: without it the provider keys in the database are lost`;
}

function hostInUrl(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}

/** What a driver or a name server says about an address may quote it. */
function withoutSecrets(thrown: unknown, secrets: readonly Secret[]): unknown {
  if (!(thrown instanceof TuttiError)) return thrown;
  const { code, message, retry, details } = thrown;
  return new TuttiError(code, redactor(secrets)(message), { retry, ...(details === undefined ? {} : { details }) });
}
