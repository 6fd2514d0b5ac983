// One open connection to an MCP server, on the official SDK: what the server offers, and calls with limits. Loaded with the first server.

import {
  Client,
  type ClientOptions,
  type JsonSchemaType,
  type JsonSchemaValidatorResult,
  type RequestOptions,
  type Transport,
} from "@modelcontextprotocol/client";

import { outputCheck, type OutputCheck } from "../agent/loop/output-schema.ts";
import { describeIssues } from "../protocol/lenient-read.ts";
import { thrownMessage, TuttiError } from "../protocol/error.ts";
import { PausableDeadline } from "./pausable-deadline.ts";
import { dropUnprintableTools } from "./printable-tools.ts";
import { OfferedTool } from "./server-identity.ts";

const connectMs = 30_000;
/** A local server that does not know the newest revision often says nothing when it is asked. */
const probeMs = 4_000;
const mostTools = 500;
const mostPages = 20;
const aliveMs = 5_000;
/** The SDK's own limit would also run while a person is asked. */
const noLimit = 2 ** 31 - 1;

/** What a server asks a person for while a call runs. */
export interface Elicitation {
  readonly message: string;
  /** JSON Schema of the answer; undefined when the person is to open an address. */
  readonly schema?: Readonly<Record<string, unknown>>;
  readonly url?: string;
}
export type Elicited =
  | { readonly action: "accept"; readonly content?: Record<string, string | number | boolean | string[]> }
  | { readonly action: "decline" | "cancel" };

export interface CallContext {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly progress: (text: string) => void;
  readonly elicit: (asked: Elicitation) => Promise<Elicited>;
}

export interface ServerOffer {
  readonly tools: readonly OfferedTool[];
  /** Tools that cannot be offered, and why. */
  readonly problems: readonly string[];
  readonly resources: boolean;
  readonly prompts: boolean;
}

interface ActiveCall {
  readonly deadline: PausableDeadline;
  readonly elicit: CallContext["elicit"];
}

export interface ConnectionOptions {
  readonly name: string;
  readonly transport: Transport;
  /** The server is known to speak only revisions before the newest one. */
  readonly legacy: boolean;
  /** Why the connection was ended from this side. */
  readonly problem?: () => TuttiError | undefined;
}

export class McpConnection {
  readonly #name: string;
  readonly #client: Client;
  readonly #problem: () => TuttiError | undefined;
  readonly #active = new Set<ActiveCall>();
  #offer: ServerOffer | undefined;
  #isStale = false;
  isClosed = false;

  private constructor(client: Client, { name, problem }: ConnectionOptions) {
    this.#name = name;
    this.#client = client;
    this.#problem = problem ?? (() => undefined);
  }

  static async open(options: ConnectionOptions): Promise<McpConnection> {
    const { transport, legacy } = options;
    const client = new Client({ name: "tutti", version: "0.1" }, clientOptions(legacy));
    const connection = new McpConnection(client, options);
    client.onclose = () => (connection.isClosed = true);
    // Errors of the transport also end the calls that they concern.
    client.onerror = () => undefined;
    client.setRequestHandler("elicitation/create", ({ params }) => connection.#ask(params));
    client.setNotificationHandler("notifications/tools/list_changed", () => {
      connection.#isStale = true;
    });
    await client.connect(transport, { timeout: connectMs });
    dropUnprintableTools(transport);
    return connection;
  }

  /** The same again until the server says that something has changed. */
  async offer(signal?: AbortSignal): Promise<ServerOffer> {
    if (this.#offer !== undefined && !this.#isStale) return this.#offer;
    this.#isStale = false;
    const { tools, resources, prompts } = this.#client.getServerCapabilities() ?? {};
    // What is listed must get into the client's cache: it checks results by it, and tells which arguments go into headers.
    const options = { timeout: connectMs, cacheMode: "refresh" as const, ...(signal === undefined ? {} : { signal }) };
    const listed = tools === undefined ? [] : await this.#listTools(options);
    this.#offer = { ...readTools(listed), resources: resources !== undefined, prompts: prompts !== undefined };
    return this.#offer;
  }

  async #listTools(options: RequestOptions & { readonly cacheMode: "refresh" }): Promise<readonly unknown[]> {
    try {
      return (await this.#client.listTools(undefined, options)).tools;
    } catch (thrown) {
      this.#isStale = true;
      options.signal?.throwIfAborted();
      throw this.#explained("the list of tools", thrown);
    }
  }

  async callTool(tool: string, input: Readonly<Record<string, unknown>>, context: CallContext): Promise<unknown> {
    const what = `${tool} of the MCP server ${this.#name}`;
    return this.#within(what, context, (options) =>
      this.#client.callTool({ name: tool, arguments: { ...input } }, options),
    );
  }

  async listResources(context: CallContext): Promise<unknown> {
    const { resources } = await this.#within("the list of resources", context, (options) =>
      this.#client.listResources(undefined, options),
    );
    const { resourceTemplates } = await this.#within("the list of resources", context, (options) =>
      this.#client.listResourceTemplates(undefined, options).catch(() => ({ resourceTemplates: [] })),
    );
    return { resources: resources.slice(0, mostTools), templates: resourceTemplates.slice(0, mostTools) };
  }

  async readResource(uri: string, context: CallContext): Promise<readonly unknown[]> {
    const read = await this.#within(`the resource ${uri}`, context, (options) =>
      this.#client.readResource({ uri }, options),
    );
    return read.contents;
  }

  async listPrompts(context: CallContext): Promise<unknown> {
    const { prompts } = await this.#within("the list of prompts", context, (options) =>
      this.#client.listPrompts(undefined, options),
    );
    return { prompts: prompts.slice(0, mostTools) };
  }

  async getPrompt(name: string, input: Readonly<Record<string, string>>, context: CallContext): Promise<unknown> {
    return this.#within(`the prompt ${name}`, context, (options) =>
      this.#client.getPrompt({ name, arguments: { ...input } }, options),
    );
  }

  /** Whether the server still answers. */
  async isAlive(): Promise<boolean> {
    try {
      if (this.#client.getProtocolEra() === "modern") await this.#client.discover({ timeout: aliveMs });
      else await this.#client.ping({ timeout: aliveMs });
      return true;
    } catch {
      return false;
    }
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await this.#client.close().catch(() => undefined);
  }

  async #within<T>(
    what: string,
    { signal, timeoutMs, progress, elicit }: CallContext,
    call: (options: RequestOptions) => Promise<T>,
  ): Promise<T> {
    const deadline = new PausableDeadline(what, timeoutMs);
    const active = { deadline, elicit };
    this.#active.add(active);
    try {
      return await call({
        signal: AbortSignal.any([signal, deadline.signal]),
        timeout: noLimit,
        onprogress({ message }) {
          deadline.restart();
          if (message !== undefined) progress(`${message.slice(0, 2_000)}\n`);
        },
      });
    } catch (thrown) {
      signal.throwIfAborted();
      if (deadline.signal.aborted) throw deadline.signal.reason;
      throw this.#explained(what, thrown);
    } finally {
      deadline.end();
      this.#active.delete(active);
    }
  }

  /** What went wrong, with what a person can do about it. */
  #explained(what: string, thrown: unknown): TuttiError {
    if (thrown instanceof TuttiError) return thrown;
    const problem = this.#problem();
    if (problem?.code === "unauthorized") return problem;
    const why = problem?.message ?? thrownMessage(thrown);
    const retry = this.isClosed ? "unknown" : "never";
    return new TuttiError("step_failed", `${what} failed: ${why.slice(0, 4_000)}`, { retry });
  }

  /** A server may ask only while a call runs. When several run, it is not known which one it asks for; the newest is taken. */
  async #ask(params: { readonly message: string; readonly mode?: unknown }): Promise<Elicited> {
    const call = [...this.#active].at(-1);
    if (call === undefined) return { action: "decline" };
    const asked: Elicitation = {
      message: params.message,
      ...("requestedSchema" in params && isRecord(params.requestedSchema) ? { schema: params.requestedSchema } : {}),
      ...("url" in params && typeof params.url === "string" ? { url: params.url } : {}),
    };
    return call.deadline.whilePaused(() => call.elicit(asked));
  }
}

/** Sampling and roots are never offered: a server must not use the person's models, nor learn where their files are. */
function clientOptions(legacy: boolean): ClientOptions {
  return {
    capabilities: { elicitation: { form: {}, url: {} } },
    versionNegotiation: legacy ? { mode: "legacy" } : { mode: "auto", probe: { timeoutMs: probeMs } },
    listMaxPages: mostPages,
    jsonSchemaValidator: { getValidator: linearValidator },
  };
}

/** Schemas come from the server, so their patterns are matched in linear time. What cannot be compiled checks nothing. */
function linearValidator<T>(schema: JsonSchemaType): (input: unknown) => JsonSchemaValidatorResult<T> {
  let check: OutputCheck | undefined;
  try {
    check = isRecord(schema) ? outputCheck(schema) : undefined;
  } catch {
    check = undefined;
  }
  return (input) => {
    const issues = check?.(input) ?? [];
    if (isChecked<T>(input, issues)) return { valid: true, data: input, errorMessage: undefined };
    return { valid: false, data: undefined, errorMessage: describeIssues(issues) };
  };
}

/** A schema that nothing contradicts describes the value; the SDK names the type that it stands for. */
function isChecked<T>(_: unknown, issues: readonly unknown[]): _ is T {
  return issues.length === 0;
}

function readTools(listed: readonly unknown[]): Pick<ServerOffer, "tools" | "problems"> {
  const tools: OfferedTool[] = [];
  const problems: string[] = [];
  if (listed.length > mostTools) problems.push(`only the first ${mostTools} of ${listed.length} tools are taken`);
  for (const given of listed.slice(0, mostTools)) {
    const tool = OfferedTool.safeParse(given);
    if (!tool.success) problems.push("a tool cannot be used: its description or schema is too long or not valid");
    else if (tools.some(({ name }) => name === tool.data.name)) problems.push(`${tool.data.name} is listed twice`);
    else if (!isUsable(tool.data)) problems.push(`${tool.data.name} has a schema that cannot be checked`);
    else tools.push(tool.data);
  }
  return { tools, problems };
}

function isUsable({ inputSchema }: OfferedTool): boolean {
  if (inputSchema["type"] !== "object" || JSON.stringify(inputSchema).length > 64_000) return false;
  try {
    outputCheck(inputSchema);
    return true;
  } catch {
    return false;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
