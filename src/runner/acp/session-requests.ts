// Answers what an agent asks of us: permissions, files of the workspace, and programs to run in it.

import { protectedPart } from "../../agent/workspace/protected-files.ts";
import { resolvePath } from "../../agent/workspace/resolve-path.ts";
import * as frames from "./acp-frames.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { Approver } from "./approver.ts";
import { effectsOf, fullPath, judgedCalls, pathsOf } from "./call-effects.ts";
import { RpcError, rpcCodes } from "./connection.ts";
import { changeTold, type FileChange, FileGrants } from "./file-change.ts";
import { optionFor, permissionText, type ToldChange } from "./permission.ts";
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
  readonly #grants = new FileGrants();
  /** A permission of the current prompt was not given. */
  wasDenied = false;

  constructor(parts: RequestParts) {
    this.#parts = parts;
  }

  beginTurn(): void {
    this.wasDenied = false;
    this.#parts.approver.beginTurn();
  }

  /** What was allowed in a prompt ends with it, and so does what is still asked. */
  endTurn(): void {
    this.#parts.approver.endTurn();
    this.#grants.end();
  }

  async answer(method: string, params: unknown): Promise<unknown> {
    const { launch, approver, terminals } = this.#parts;
    const files = { roots: launch.folder.roots, offLimits: launch.hidden, approver, grants: this.#grants };
    switch (method) {
      case "session/request_permission":
        return { outcome: await this.#permit(frames.PermissionRequest.parse(params)) };
      case "fs/read_text_file":
        return readFile(params, files);
      case "fs/write_text_file":
        this.#refuseOutside();
        return writeFile(params, files);
      case "terminal/create":
        this.#refuseOutside();
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

  #refuseOutside(): void {
    if (this.#parts.isPrompting()) return;
    throw new TuttiError("refused", "no prompt is open, and outside of one nothing is changed or started");
  }

  async #permit(request: frames.PermissionRequest): Promise<ReturnType<typeof optionFor>> {
    if (!this.#parts.isPrompting()) return { outcome: "cancelled" };
    const { launch, agent, approver, updates } = this.#parts;
    const { options } = request;
    const call = updates.requested(request.toolCall);
    const { confined } = launch.sandbox;
    const files = await this.#filesOf(call);
    const isProtected = files.some((file) => file.isProtected);
    // A confined session finds protected files read-only, so a yes would promise too much.
    if (isProtected && confined) return this.#denied(options);
    const reach = { confined: confined && files.every(({ real }) => real !== undefined), isProtected };
    const [judged, ...also] = judgedCalls(call, reach);
    const calls = [judged, ...also];
    const protectedFiles = files.flatMap(({ path, isProtected: is }) => (is ? [path] : []));
    let shown: readonly FileChange[] = [];
    let wasAsked = false;
    const verdict = await approver.decide({
      ...judged,
      also,
      question: async () => {
        const changes = await this.#changesOf(call);
        const asked = { agent, profile: launch.name, call, calls, ...reach, protectedFiles, changes, request };
        const { question, whole } = permissionText(asked);
        shown = whole;
        wasAsked = true;
        return question;
      },
      details: { profile: launch.name, call },
    });
    if (!verdict.allowed) return this.#denied(options);
    const answer = optionFor(options, true);
    const isAllowed = options.some(
      (each) => answer.outcome === "selected" && each.optionId === answer.optionId && each.kind === "allow_once",
    );
    if (!isAllowed) return answer;
    for (const change of shown) this.#grants.allow(change);
    if (wasAsked && effectsOf(calls).every((effect) => effect === "read")) {
      for (const { real } of files) if (real !== undefined) this.#grants.allowReading(real);
    }
    return answer;
  }

  async #changesOf(call: frames.ToolCallUpdate): Promise<ToldChange[]> {
    const { folder, hidden: offLimits } = this.#parts.launch;
    return Promise.all(
      frames.diffsIn(call).map(async (diff) => {
        const path = fullPath(diff.path, folder.cwd);
        return { diff, change: await changeTold({ ...diff, path }, { roots: folder.roots, offLimits }) };
      }),
    );
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
