// The path /mcp of the service: checks who calls, reads the request, and passes the response of the MCP server on.

import type { IncomingMessage, ServerResponse } from "node:http";
import { homedir } from "node:os";
import { isAbsolute, resolve } from "node:path";

import { folderInside } from "../../core/folder-inside.ts";
import type { TuttiError } from "../../protocol/error.ts";
import { readStrictJson } from "../../protocol/json/strict-json.ts";
import type { State } from "../state/state.ts";
import { ActiveRequest } from "../http/active-request.ts";
import {
  type AuthDeps,
  authorize,
  bearerOf,
  type Caller,
  decideFresh,
  programOf,
  revokedSince,
} from "../http/authorize.ts";
import type { FailedAttempts } from "../http/failed-attempts.ts";
import { startWhereWorkIs } from "../http/here-or-elsewhere.ts";
import { type HttpError, httpError } from "../http/http-error.ts";
import { readBody } from "../http/read-body.ts";
import { securityHeaders } from "../http/security-headers.ts";
import { projectFolder } from "../project/project-folder.ts";
import type { McpExchange } from "./mcp-server.ts";
import { type McpCaller, type McpTool, narrowedRole } from "./mcp-tool.ts";

export const mcpPath = "/mcp";

const maxBodyBytes = 4 * 1024 * 1024;
const bounds = { maxLength: maxBodyBytes, maxDepth: 128, maxValues: maxBodyBytes / 8 };
/** Headers that the MCP server reads. No other header of the caller reaches it. */
const passedOn = ["accept", "content-type", "last-event-id", "mcp-session-id", "mcp-protocol-version"];

export interface McpEndpointOptions {
  readonly state: Pick<State, "client" | "operators" | "workers" | "keys" | "shared">;
  readonly auth: AuthDeps;
  readonly failedAttempts: FailedAttempts;
  readonly stopping: AbortSignal;
  /** Called after a call that did more than look. */
  readonly onChanged: () => void;
  readonly onError: (error: Error) => void;
  /** Adds more to the server than the tools of Tutti. */
  readonly extend?: McpExchange["extend"];
}

export interface McpEndpoint {
  /** Who calls; the error when they may not. */
  authorize(request: IncomingMessage): Promise<{ readonly caller: Caller } | { readonly error: HttpError }>;
  /** Sends the response, or returns the error that is to be sent instead. */
  serve(request: IncomingMessage, response: ServerResponse, caller: Caller): Promise<HttpError | undefined>;
}

export function mcpEndpoint(options: McpEndpointOptions): McpEndpoint {
  const { state, auth, failedAttempts } = options;
  let tools: readonly McpTool[] | undefined;
  return {
    async authorize(request) {
      const bearer = bearerOf(request);
      // The handle of a worker opens the tools of workers, so that the process of a worker needs no key of a person.
      if (bearer !== undefined && /^(?:wh-|tt1)/.test(bearer)) {
        const unknown = await state.workers.whyUnknown(bearer);
        if (unknown === undefined) return { caller: { kind: "worker", bearer } };
        return { error: await failedAttempts.delay(request, httpError("unauthorized", unknown.message)) };
      }
      const authorized = await decideFresh(auth, () => authorize(auth, request, "viewer", ""));
      if (authorized.ok) return { caller: authorized.caller };
      const { error } = authorized;
      return { error: authorized.unknownSecret ? await failedAttempts.delay(request, error) : error };
    },
    async serve(request, response, caller) {
      const read = await readBody(request, response, { body: { type: "text" }, maxBytes: maxBodyBytes });
      if (!read.ok) return read.error;
      const revoked = revokedSince(auth, caller);
      if (revoked !== undefined) return revoked;
      const json = readStrictJson(read.text, bounds);
      if (!json.ok && json.fault !== "bad_json") {
        return httpError("invalid_input", `the body cannot be read safely (${json.fault}); send a simpler one`);
      }
      // Each request counts once against the limits of its key, so it is one call.
      if (json.ok && Array.isArray(json.value)) {
        return httpError("invalid_input", "this is a batch of messages; send each message in a request of its own");
      }
      const asking = overMcp(request, caller);
      const input = { params: {}, query: {}, headers: {}, body: undefined, text: read.text, caller: asking };
      const active = new ActiveRequest({ request, response, stopping: options.stopping, auth, input });
      const slowDown = async (error: TuttiError): Promise<TuttiError> =>
        (await failedAttempts.delay(request, { cause: error })).cause;
      try {
        // Loaded with the first request: most services never get one.
        const [{ serveExchange }, { allTools }] = await Promise.all([
          import("./mcp-server.ts"),
          import("./all-tools.ts"),
        ]);
        tools ??= allTools(state);
        const answer = await serveExchange({
          // What cannot be read here is not read by the server either.
          request: webRequest(request, json.ok ? read.text : "", active.signal),
          body: json.ok ? json.value : undefined,
          facts: {
            caller: mcpCaller(state, request, asking),
            folder: header(request, "tutti-folder"),
            startAnywhere: (start, after = []) => startWhereWorkIs(state, active, after, start),
            slowDown,
          },
          tools,
          onChanged: options.onChanged,
          onError: options.onError,
          extend: options.extend,
        });
        await passOn(answer, response);
        return undefined;
      } finally {
        active.end();
      }
    },
  };
}

function mcpCaller({ keys }: Pick<State, "keys">, request: IncomingMessage, caller: Caller): McpCaller {
  if (caller.kind === "worker") return caller;
  const { id, name, role } = caller.kind === "key" ? caller : { id: "", name: "nobody", role: "viewer" as const };
  return {
    kind: "key",
    id,
    name,
    role: narrowedRole(role, header(request, "tutti-role")),
    program: programOf(caller) ?? { key: name, over: "MCP", may: [], folders: [] },
    keyOwner: keys.callerOf(id),
  };
}

/** Whatever speaks MCP is a program, most often a model, also with the key of a person. */
function overMcp(request: IncomingMessage, caller: Caller): Caller {
  if (caller.kind !== "key") return caller;
  const { name, person, may, folders } = caller;
  const open = person ? foldersAt(header(request, "tutti-folder")) : folders;
  return { ...caller, program: { key: name, over: "MCP", may, folders: open } };
}

/** Where a person has started `tutti mcp`: the project there, unless that is everything that the person has. */
function foldersAt(folder: string | undefined): string[] {
  if (folder === undefined || !isAbsolute(folder)) return [];
  const home = homedir();
  const project = projectFolder(resolve(folder), home);
  return folderInside(home, [project]) === undefined ? [project] : [];
}

function header(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}

function webRequest(request: IncomingMessage, text: string, signal: AbortSignal): Request {
  const headers = new Headers();
  for (const name of [
    ...passedOn,
    ...Object.keys(request.headers).filter((each) => /^mcp-(?:method|name|param-)/.test(each)),
  ]) {
    const value = header(request, name);
    if (value !== undefined) headers.set(name, value);
  }
  const method = request.method ?? "GET";
  return new Request("http://localhost/mcp", { method, headers, signal, ...(method === "POST" ? { body: text } : {}) });
}

async function passOn(answer: Response, response: ServerResponse): Promise<void> {
  const headers = [...securityHeaders];
  for (const [name, value] of answer.headers)
    if (/^(?:content-type|allow|mcp-.*)$/.test(name)) headers.push(name, value);
  response.writeHead(answer.status, headers);
  if (answer.body === null) {
    response.end();
    return;
  }
  response.flushHeaders();
  for await (const chunk of answer.body) {
    if (response.destroyed) break;
    if (!response.write(chunk)) await drained(response);
  }
  response.end();
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off("drain", done).off("close", done);
      resolve();
    };
    response.on("drain", done).on("close", done);
  });
}
