// Greets an agent and opens a session with it: a new one or an earlier one, in the mode in which it asks the most, with the chosen model.

import { z } from "zod";

import { TuttiError } from "../../protocol/error.ts";
import * as frames from "./acp-frames.ts";
import { RpcError } from "./connection.ts";
import type { LaunchOptions } from "./session-launch.ts";
import { type Trouble, troubleIn } from "./trouble.ts";

/** Sends a request and reads the answer; throws an `RpcError` when the agent refuses. */
export type AskAgent = <T>(method: string, params: unknown, schema: z.ZodType<T>) => Promise<T>;

export interface OpenedSession {
  readonly session: string;
  /** Whether the agent can take a session up again. */
  readonly load: boolean;
  readonly resumed: boolean;
  readonly mode: string | null;
  readonly agent: { readonly name: string; readonly version: string } | null;
}

export interface OpenRequest {
  readonly launch: LaunchOptions;
  /** The session to be taken up again; null for a new one. */
  readonly earlier: string | null;
  readonly now: () => number;
}

/** What stands in the way is a value when people can do something about it. */
export async function openSession(
  ask: AskAgent,
  { launch, earlier, now }: OpenRequest,
): Promise<OpenedSession | { readonly trouble: Trouble }> {
  const greeted = await ask(
    "initialize",
    {
      protocolVersion: frames.protocolVersion,
      clientCapabilities: { fs: { readTextFile: true, writeTextFile: true }, terminal: true },
      clientInfo: { name: "tutti", version: "1" },
    },
    frames.InitializeResult,
  );
  if (greeted.protocolVersion !== frames.protocolVersion) {
    const message = `the agent speaks version ${greeted.protocolVersion} of the protocol; Tutti speaks ${frames.protocolVersion}`;
    throw new TuttiError("task_failed", message);
  }
  const { loadSession: load } = greeted.agentCapabilities;
  const wanted = load ? earlier : null;
  let opened: frames.SessionResult;
  try {
    opened = await openLoggedIn(ask, launch, wanted);
  } catch (thrown) {
    if (!(thrown instanceof RpcError)) throw thrown;
    const trouble = thrown.code === frames.authRequired ? loggedOut : troubleIn(thrown.message, now());
    if (trouble !== undefined) return { trouble };
    if (wanted === null) throw thrown;
    // An agent that was killed before it kept its session, for example.
    const why = `the agent could not take its session up again: ${thrown.message}`;
    throw new TuttiError("outcome_unknown", `${why}; part of its work may have been done`, {
      retry: "unknown",
      details: { load_refused: true },
    });
  }
  const session = opened.sessionId;
  if (session === undefined) throw new TuttiError("task_failed", "the agent opened a session without an id");
  const mode = await setMode(ask, launch, { session, opened });
  await setModel(ask, launch, { session, opened });
  const { name, version } = greeted.agentInfo ?? {};
  const agent = name === undefined ? null : { name, version: version ?? "" };
  return { session, load, resumed: wanted !== null, mode, agent };
}

const loggedOut: Trouble = { kind: "login" };

async function openLoggedIn(
  ask: AskAgent,
  launch: LaunchOptions,
  earlier: string | null,
): Promise<frames.SessionResult> {
  const { cwd } = launch.folder;
  const open = async (): Promise<frames.SessionResult> => {
    if (earlier === null) return ask("session/new", { cwd, mcpServers: [] }, frames.SessionResult);
    const params = { sessionId: earlier, cwd, mcpServers: [] };
    return { ...(await ask("session/load", params, frames.SessionResult.nullable())), sessionId: earlier };
  };
  try {
    return await open();
  } catch (thrown) {
    const way = launch.profile.auth.find(({ env }) => env === undefined || process.env[env] !== undefined);
    if (!(thrown instanceof RpcError) || thrown.code !== frames.authRequired || way === undefined) throw thrown;
    await ask("authenticate", { methodId: way.method }, z.unknown());
    return open();
  }
}

interface Opened {
  readonly session: string;
  readonly opened: frames.SessionResult;
}

async function setMode(
  ask: AskAgent,
  { name, profile }: LaunchOptions,
  { session: sessionId, opened: { modes } }: Opened,
): Promise<string | null> {
  const { mode: wanted } = profile;
  if (modes === undefined || modes === null)
    return wanted === null ? null : setUntoldMode(ask, { name, wanted, sessionId });
  if (wanted === null || modes.currentModeId === wanted) return modes.currentModeId;
  const offered = modes.availableModes.map(({ id }) => id);
  if (!offered.includes(wanted)) {
    const why = `${name} offers the modes ${offered.join(", ")}, but not ${wanted}, in which it asks the most`;
    throw new TuttiError("refused", `${why}; change mode in the profile`);
  }
  await ask("session/set_mode", { sessionId, modeId: wanted }, z.unknown());
  return wanted;
}

/** An agent that tells no modes may have some all the same, as after a session was taken up again. */
async function setUntoldMode(
  ask: AskAgent,
  { name, wanted, sessionId }: { readonly name: string; readonly wanted: string; readonly sessionId: string },
): Promise<string> {
  try {
    await ask("session/set_mode", { sessionId, modeId: wanted }, z.unknown());
    return wanted;
  } catch (thrown) {
    if (!(thrown instanceof RpcError)) throw thrown;
    const why = `${name} cannot be put into the mode ${wanted}, in which it asks the most: ${thrown.message}`;
    throw new TuttiError("refused", `${why}; change mode in the profile`);
  }
}

async function setModel(
  ask: AskAgent,
  { name, profile, model }: LaunchOptions,
  { session: sessionId, opened: { configOptions } }: Opened,
): Promise<void> {
  if (model === undefined || profile.model?.option !== true) return;
  const option = configOptions?.find(({ category, id }) => category === "model" || id === "model");
  if (option === undefined) {
    throw new TuttiError("invalid_input", `${name} does not let its model be chosen; leave the model out`);
  }
  await ask("session/set_config_option", { sessionId, configId: option.id, value: model }, z.unknown());
}
