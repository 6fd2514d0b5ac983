// Passes MCP messages between standard input and output, one JSON object per line, and the path /mcp of a daemon.
import type { Readable } from "node:stream";

import { z } from "zod";

import { readEventStream } from "../client/read-event-stream.ts";
import { thrownMessage } from "../protocol/error.ts";
import { parseJson } from "../protocol/json/parse-json.ts";

const longestLine = 8 * 1024 * 1024;
/** The daemon sends a sign of life every 15 seconds while a call goes on. */
const silenceMs = 60_000;
const mostAtOnce = 64;
/** How long calls may go on after the input has ended. */
const lastAnswersMs = 1_000;

const Id = z.union([z.string(), z.number()]);
const Message = z.looseObject({
  id: Id.optional(),
  method: z.string().optional(),
  params: z
    .looseObject({
      name: z.string().optional(),
      uri: z.string().optional(),
      requestId: Id.optional(),
      _meta: z.record(z.string(), z.unknown()).optional(),
    })
    .optional(),
});
type Message = z.infer<typeof Message>;
const Initialized = z.object({ result: z.object({ protocolVersion: z.string() }) });
const Problem = z.object({ detail: z.string() });

export interface McpBridge {
  /** Sends a request to the daemon with the key of the caller. */
  readonly send: (path: string, init: RequestInit) => Promise<Response>;
  /** Sent with every request. */
  readonly headers: Readonly<Record<string, string>>;
  readonly input: Readable;
  readonly write: (line: string) => Promise<void>;
}

/** Ends when the input ends. What is under way then has a moment to be answered, and is given up after that. */
export async function bridgeMcp({ send, headers, input, write }: McpBridge): Promise<void> {
  const running = new Map<string | number, AbortController>();
  const open = new Set<Promise<void>>();
  let version: string | undefined;

  const forward = async (line: string, message: Message): Promise<void> => {
    const { id, method } = message;
    const ended = new AbortController();
    if (id !== undefined && method !== undefined) running.set(id, ended);
    try {
      const response = await send("/mcp", {
        method: "POST",
        headers: { ...headers, ...headersOf(message, version), "content-type": "application/json" },
        body: line,
        signal: ended.signal,
      });
      for await (const text of messagesIn(response)) {
        if (method === "initialize") version = Initialized.safeParse(parseJson(text)).data?.result.protocolVersion;
        await write(text);
      }
    } catch (thrown) {
      if (ended.signal.aborted || id === undefined || method === undefined) return;
      await write(JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32_603, message: thrownMessage(thrown) } }));
    } finally {
      if (id !== undefined) running.delete(id);
    }
  };

  for await (const line of linesOf(input)) {
    const message = Message.safeParse(parseJson(line));
    if (!message.success) {
      const error = { code: -32_700, message: "the line is no JSON-RPC message" };
      await write(JSON.stringify({ jsonrpc: "2.0", id: null, error }));
      continue;
    }
    const { method, params } = message.data;
    if (method === "notifications/cancelled") {
      if (params?.requestId !== undefined) running.get(params.requestId)?.abort();
      continue;
    }
    const work = forward(line, message.data).finally(() => open.delete(work));
    open.add(work);
    // The answer to the first message says how the others are sent.
    if (method === "initialize") await work;
    while (open.size >= mostAtOnce) await Promise.race(open);
  }
  // What was asked last can still be answered, which makes the command usable in a pipe.
  const late = setTimeout(() => {
    for (const each of running.values()) each.abort();
  }, lastAnswersMs);
  await Promise.allSettled(open);
  clearTimeout(late);
}

/** A message of the newest revision says itself which one it is, and its headers must say the same. */
function headersOf({ method, params }: Message, version: string | undefined): Record<string, string> {
  const accept = { accept: "application/json, text/event-stream" };
  const claimed = params?._meta?.["io.modelcontextprotocol/protocolVersion"];
  if (typeof claimed !== "string" || method === undefined) {
    return version === undefined ? accept : { ...accept, "mcp-protocol-version": version };
  }
  const name = params?.name ?? params?.uri;
  return {
    ...accept,
    "mcp-protocol-version": claimed,
    "mcp-method": method,
    ...(name === undefined ? {} : { "mcp-name": name }),
  };
}

async function* messagesIn(response: Response): AsyncGenerator<string> {
  const type = response.headers.get("content-type") ?? "";
  if (type.startsWith("text/event-stream") && response.body !== null) {
    for await (const { data } of readEventStream(response.body, { silenceMs, onBytes: () => undefined })) {
      if (data !== "") yield oneLine(data);
    }
    return;
  }
  const text = await response.text();
  if (type.startsWith("application/json") && text !== "") yield oneLine(text);
  else if (!response.ok) {
    throw new Error(Problem.safeParse(parseJson(text)).data?.detail ?? `the daemon answered ${response.status}`);
  }
}

function oneLine(json: string): string {
  return json.includes("\n") ? JSON.stringify(parseJson(json)) : json;
}

async function* linesOf(input: Readable): AsyncGenerator<string> {
  let held = "";
  for await (const chunk of input.setEncoding("utf8")) {
    held += String(chunk);
    const lines = held.split("\n");
    held = lines.pop() ?? "";
    for (const line of lines) if (line.trim() !== "") yield line;
    if (held.length > longestLine) throw new Error(`a line is longer than ${longestLine} characters`);
  }
}
