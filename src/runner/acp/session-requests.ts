// Answers what an agent asks of us: permissions, files of the workspace, and programs to run in it.

import { protectedPart } from "../../agent/workspace/protected-files.ts";
import { resolvePath } from "../../agent/workspace/resolve-path.ts";
import * as frames from "./acp-frames.ts";
import type { Approver } from "./approver.ts";
import { RpcError, rpcCodes } from "./connection.ts";
import { effectsOf, optionFor, pathsOf, permissionQuestion } from "./permission.ts";
import { readFile, writeFile } from "./session-files.ts";
import type { LaunchOptions } from "./session-launch.ts";
import type { SessionTerminals } from "./session-terminals.ts";
import type { SessionUpdates } from "./session-updates.ts";

export interface RequestParts {
  readonly agent: string;
  readonly launch: LaunchOptions;
  readonly approver: Approver;
  readonly updates: SessionUpdates;
  readonly terminals: SessionTerminals;
  /** Whether a prompt is open; outside of one nothing is permitted. */
  readonly isPrompting: () => boolean;
}

export class SessionRequests {
  readonly #parts: RequestParts;
  /** Real paths of files whose change was allowed. */
  readonly #allowed = new Set<string>();
  /** A permission of the current prompt was not given. */
  wasDenied = false;

  constructor(parts: RequestParts) {
    this.#parts = parts;
  }

  async answer(method: string, params: unknown): Promise<unknown> {
    const { launch, approver, terminals } = this.#parts;
    const files = { roots: launch.folder.roots, offLimits: launch.hidden, approver, allowed: this.#allowed };
    switch (method) {
      case "session/request_permission":
        return { outcome: await this.#permit(frames.PermissionRequest.parse(params)) };
      case "fs/read_text_file":
        return readFile(params, files);
      case "fs/write_text_file":
        return writeFile(params, files);
      case "terminal/create":
        return terminals.create(params);
      case "terminal/output":
        return terminals.output(params);
      case "terminal/wait_for_exit":
        return terminals.waitForExit(params);
      case "terminal/kill":
        return terminals.kill(params);
      case "terminal/release":
        return terminals.release(params);
      default:
        throw new RpcError(rpcCodes.unknownMethod, `Tutti does not know the method ${method}`);
    }
  }

  async #permit({ toolCall, options }: frames.PermissionRequest): Promise<ReturnType<typeof optionFor>> {
    if (!this.#parts.isPrompting()) return { outcome: "cancelled" };
    const { launch, agent, approver, updates } = this.#parts;
    const call = updates.requested(toolCall);
    const { confined } = launch.sandbox;
    const files = await this.#filesOf(call);
    const isProtected = files.some((file) => file.isProtected);
    // A confined session finds protected files read-only, so a yes would promise too much.
    if (isProtected && confined) return this.#denied(options);
    const effect = {
      effects: [...effectsOf(call), ...(isProtected ? (["protected"] as const) : [])],
      confined: confined && files.every(({ real }) => real !== undefined),
    };
    const protectedFiles = files.flatMap(({ path, isProtected: is }) => (is ? [path] : []));
    const asked = { agent, profile: launch.name, call, effect, protectedFiles };
    const verdict = await approver.decide({
      tool: `acp.${call.kind ?? "other"}`,
      effect,
      question: () => permissionQuestion(asked),
      details: { profile: launch.name, call },
    });
    if (!verdict.allowed) return this.#denied(options);
    for (const { real } of files) if (real !== undefined) this.#allowed.add(real);
    return optionFor(options, true);
  }

  #denied(options: frames.PermissionRequest["options"]): ReturnType<typeof optionFor> {
    this.wasDenied = true;
    return optionFor(options, false);
  }

  async #filesOf(
    call: frames.ToolCallUpdate,
  ): Promise<{ readonly path: string; readonly real: string | undefined; readonly isProtected: boolean }[]> {
    const { roots, cwd } = this.#parts.launch.folder;
    return Promise.all(
      pathsOf(call, cwd).map(async (path) => {
        const resolved = await resolvePath(path, roots).catch(() => undefined);
        const part = resolved === undefined ? undefined : await protectedPart(resolved);
        return { path, real: resolved?.path, isProtected: part !== undefined };
      }),
    );
  }
}
