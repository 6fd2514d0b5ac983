// Asks the other nodes for what is on the disk of one of them, with the rights of whoever asked here.

import { randomUUID } from "node:crypto";
import { statSync } from "node:fs";

import { type Service, service } from "../../client/call.ts";
import type { Tutti } from "../../client/client.ts";
import { httpClient } from "../../client/http-client.ts";
import { thrownMessage, TuttiError } from "../../protocol/error.ts";
import type { TaskId } from "../../protocol/ids.ts";
import type { OtherNode } from "../cluster/node-fetch.ts";
import { missingFolder, noFolder } from "../project/missing-folder.ts";
import type { SharedByNodes } from "../state/kept-records.ts";
import type { State } from "../state/state.ts";
import type { ProgramCaller } from "../../protocol/invocation/by-program.ts";
import { programOf } from "./authorize.ts";
import { forwardedHeader } from "./forwarded-header.ts";
import type { AnyRequest } from "./handler.ts";
import { programHeader, programHeaderOf } from "./program-header.ts";

export type Asking = Pick<AnyRequest, "bearer" | "caller" | "forwarded" | "signal">;
type AskedState = Pick<State, "client" | "shared">;

/** What is not found here is looked for at each other node. A node that was asked by another one asks nobody. */
export async function hereOrElsewhere<T>(
  { client, shared }: AskedState,
  request: Asking,
  ask: (tutti: Tutti) => Promise<T>,
): Promise<T> {
  try {
    return await ask(client);
  } catch (thrown) {
    const asking = mayAsk(shared, request);
    if (asking === undefined || !isNotFound(thrown)) throw thrown;
    const elsewhere = await askOthers(asking, await asking.shared.others(), { ask, isNotThere: isNotFound });
    if ("given" in elsewhere) return elsewhere.given;
    throw elsewhere.silent.length === 0 ? thrown : silentError(thrownMessage(thrown), elsewhere.silent);
  }
}

/**
 * `onceKey` is for a request that has no key of its own and must not be carried out twice when the answer of a node is lost and
 * another one is asked; undefined here.
 */
type Start<T> = (tutti: Tutti, onceKey: string | undefined) => Promise<T>;

/** Starts work that builds on other tasks at the node that has their work, if there is one; any other as `startWhereFolderIs`. */
export async function startWhereWorkIs<T>(
  state: AskedState,
  request: Asking,
  after: readonly TaskId[],
  start: Start<T>,
): Promise<T> {
  const asking = mayAsk(state.shared, request);
  const hasWork = (tutti: Tutti): Promise<boolean> =>
    Promise.all(after.map((task) => tutti.taskWorkspace(task))).then(
      () => true,
      () => false,
    );
  if (asking === undefined || after.length === 0 || (await hasWork(state.client))) {
    return startWhereFolderIs(state, request, start);
  }
  const onceKey = randomUUID();
  const notThere = new TuttiError("not_found", "the work is not there");
  const ask = async (tutti: Tutti): Promise<T> => {
    if (!(await hasWork(tutti))) throw notThere;
    return start(tutti, onceKey);
  };
  const isNotThere = (thrown: unknown): boolean => thrown === notThere || missingFolder(thrown) !== undefined;
  const elsewhere = await askOthers(asking, await asking.shared.others(), { ask, isNotThere });
  if ("given" in elsewhere) return elsewhere.given;
  if (elsewhere.silent.length > 0) throw silentError("the work that this builds on is not here", elsewhere.silent);
  // Nobody has it: the branches may have been pushed.
  return startWhereFolderIs(state, request, start);
}

/** Starts work here, or at a node that has the folder if this one does not. */
export async function startWhereFolderIs<T>(
  { client, shared }: AskedState,
  request: Asking,
  start: Start<T>,
): Promise<T> {
  try {
    return await start(client, undefined);
  } catch (thrown) {
    const folder = missingFolder(thrown);
    const asking = mayAsk(shared, request);
    if (asking === undefined || folder === undefined) throw thrown;
    const onceKey = randomUUID();
    const others = await asking.shared.others({ first: folder });
    const isNotThere = (there: unknown): boolean => missingFolder(there) !== undefined;
    const elsewhere = await askOthers(asking, others, { ask: (tutti) => start(tutti, onceKey), isNotThere });
    if ("given" in elsewhere) return elsewhere.given;
    if (elsewhere.silent.length > 0) throw silentError(thrownMessage(thrown), elsewhere.silent);
    throw nowhereError(folder, await asking.shared.nodesGoneWith(folder));
  }
}

/** Answers about the project in a folder from a node that has it; from here when nobody has. */
export async function lookWhereFolderIs<T>(
  { shared }: Pick<State, "shared">,
  request: Asking,
  folder: string | undefined,
  { here, there }: { readonly here: () => Promise<T>; readonly there: (call: Service["call"]) => Promise<T> },
): Promise<T> {
  if (shared === undefined || folder === undefined || isFolder(folder)) return here();
  if (request.forwarded) throw noFolder(folder);
  const asking = mayAsk(shared, request);
  if (asking === undefined) return here();
  const others = await shared.others({ first: folder });
  const { bearer, signal, program } = asking;
  for (const node of others) {
    const { call } = service({ url: node.url, bearer: () => bearer, signal, fetch: fetchAt(shared, node, program) });
    try {
      return await there(call);
    } catch (thrown) {
      if (!(thrown instanceof TuttiError) || (thrown.code !== "unreachable" && missingFolder(thrown) === undefined)) {
        throw thrown;
      }
    }
  }
  return here();
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

interface Elsewhere {
  readonly shared: SharedByNodes;
  readonly bearer: string;
  readonly signal: AbortSignal;
  /** It is a program at the other node, too. */
  readonly program: ProgramCaller | undefined;
}

export function mayAsk(
  shared: SharedByNodes | undefined,
  { bearer, caller, forwarded, signal }: Asking,
): Elsewhere | undefined {
  return shared === undefined || forwarded || bearer === undefined
    ? undefined
    : { shared, bearer, signal, program: programOf(caller) };
}

/** One after the other, until one has it. `silent` are those that did not answer. */
async function askOthers<T>(
  { shared, bearer, signal, program }: Elsewhere,
  others: readonly OtherNode[],
  {
    ask,
    isNotThere,
  }: { readonly ask: (tutti: Tutti) => Promise<T>; readonly isNotThere: (thrown: unknown) => boolean },
): Promise<{ readonly given: T } | { readonly silent: readonly string[] }> {
  const silent: string[] = [];
  for (const node of others) {
    const other = clientOf(shared, node, { bearer, signal, program });
    try {
      return { given: await ask(other) };
    } catch (there) {
      if (there instanceof TuttiError && there.code === "unreachable") silent.push(node.url);
      else if (!isNotThere(there)) throw there;
    } finally {
      await other.close();
    }
  }
  return { silent };
}

function isNotFound(thrown: unknown): boolean {
  return thrown instanceof TuttiError && thrown.code === "not_found";
}

function silentError(why: string, silent: readonly string[]): TuttiError {
  return new TuttiError("unreachable", `${why}; ${silent.join(", ")} may have it, and cannot be reached`);
}

function nowhereError(folder: string, gone: readonly string[]): TuttiError {
  if (gone.length > 0) {
    const message = `the folder ${folder} is on the machine of ${gone.join(", ")}, which is not up; start it, or ask again when it is`;
    return new TuttiError("unreachable", message, { details: { missing_folder: folder } });
  }
  const message = `no node that is up has the folder ${folder}; start a node on a machine that has it, or give the path that it has on the machine of a node`;
  return new TuttiError("not_found", message, { details: { missing_folder: folder } });
}

export function clientOf(
  shared: Pick<SharedByNodes, "fetchFrom">,
  node: OtherNode,
  { bearer, signal, program }: Omit<Elsewhere, "shared">,
): Tutti {
  return httpClient({ url: node.url, key: bearer, signal, fetch: fetchAt(shared, node, program) });
}

/** Says to the node that it is asked by another one, and whether for a program. */
function fetchAt(
  shared: Pick<SharedByNodes, "fetchFrom">,
  node: OtherNode,
  program: ProgramCaller | undefined,
): typeof fetch {
  const send = shared.fetchFrom(node);
  return async (input, init) => {
    const { pathname, search } = new URL(input instanceof Request ? input.url : String(input));
    const headers = new Headers(init?.headers);
    headers.set(forwardedHeader, "1");
    if (program !== undefined) headers.set(programHeader, programHeaderOf(program));
    return send(`${pathname}${search}`, { ...init, headers });
  };
}
