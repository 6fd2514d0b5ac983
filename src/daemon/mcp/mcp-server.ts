// Serves tools over MCP with the official SDK, both the sessionless revision and the ones before it. Loaded with the first request.

import { createMcpHandler, McpServer, type ServerContext } from "@modelcontextprotocol/server";
import { toTuttiError, TuttiError } from "../../protocol/error.ts";
import { version } from "../version.ts";
import { mayCall, type McpCall, type McpTool } from "./mcp-tool.ts";

/** A longer result is not sent: a model could not read it. */
const longestResult = 400_000;

const instructions =
  "Tutti runs goals and tasks of many agents. Start work with goal_start, agent_run or invoke, wait with task_wait, and " +
  "look at ask_list when a task is `input_required`. To be an operator, call operator_join, then operator_pending in a loop.";

type CallFacts = Omit<McpCall, "signal" | "progress">;

/** One request and everything that belongs to it. */
export interface McpExchange {
  readonly request: Request;
  /** The body, already parsed; undefined when it is no JSON. */
  readonly body: unknown;
  readonly facts: CallFacts;
  readonly tools: readonly McpTool[];
  /** Called after a call that did more than look. */
  readonly onChanged: () => void;
  readonly onError: (error: Error) => void;
  /** Adds what is no tool of Tutti, such as what the conformance suite wants a server to have. */
  readonly extend?: ((server: McpServer) => void) | undefined;
}

export async function serveExchange(exchange: McpExchange): Promise<Response> {
  const { request, body, onError } = exchange;
  const handler = createMcpHandler(() => toolServer(exchange), { onerror: onError, keepAliveMs: 15_000 });
  // Of a request that ends early, nothing may go on.
  request.signal.addEventListener("abort", () => void handler.close(), { once: true });
  return handler.fetch(request, body === undefined ? {} : { parsedBody: body });
}

function toolServer({ tools, facts, onChanged, extend }: McpExchange): McpServer {
  const server = new McpServer(
    { name: "tutti", title: "Tutti", version },
    { capabilities: { tools: {} }, instructions },
  );
  for (const tool of tools) {
    if (!mayCall(facts.caller, tool)) continue;
    const { name, description, input, readOnly } = tool;
    server.registerTool(
      name,
      { description, inputSchema: input, annotations: { readOnlyHint: readOnly } },
      async (given: unknown, context) => {
        const result = await callTool(tool, given, { ...facts, ...liveParts(context) });
        if (!readOnly && result.isError !== true) onChanged();
        return result;
      },
    );
  }
  extend?.(server);
  return server;
}

function liveParts({ mcpReq }: ServerContext): Pick<McpCall, "signal" | "progress"> {
  const token = mcpReq._meta?.progressToken;
  let sent = 0;
  return {
    signal: mcpReq.signal,
    progress(message) {
      if (token === undefined) return;
      sent += 1;
      const params = { progressToken: token, progress: sent, message };
      // The client may be gone; the call itself notices that by its signal.
      mcpReq.notify({ method: "notifications/progress", params }).catch(() => undefined);
    },
  };
}

type ToolResult = { content: { type: "text"; text: string }[]; isError?: boolean };

async function callTool(tool: McpTool, given: unknown, call: McpCall): Promise<ToolResult> {
  try {
    const text = JSON.stringify((await tool.run(given, call)) ?? null);
    if (text.length <= longestResult) return { content: [{ type: "text", text }] };
    throw new TuttiError("too_large", `the result has ${text.length} characters; ask for less, such as a smaller page`);
  } catch (thrown) {
    const { code, message, retry, details } = toTuttiError(thrown);
    const shown =
      code === "internal"
        ? { code, message: "the call failed in the service", retry }
        : { code, message, retry, details };
    return { content: [{ type: "text", text: JSON.stringify(shown) }], isError: true };
  }
}
