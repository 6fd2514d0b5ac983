// The program of the process that runs a config: loads only the files that were agreed to, describes what the config sets, and runs its tools and runners.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { extname, join, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";

import { isFunction, isStandardSchema, readUserTools, type UserTool } from "../../agent/tools/user-tools.ts";
import { errno } from "../../core/errno.ts";
import type { AnyAgent } from "../../library/code-agent.ts";
import type { CodeWorkflow } from "../../library/code-workflow.ts";
import { readWith } from "../../library/read-schema.ts";
import { plain, remoteWorkflow, type RemoteWorkflow } from "../../library/remote-workflow.ts";
import { runWorkflow } from "../../library/workflow-context.ts";
import { thrownMessage, toTuttiError, TuttiError } from "../../protocol/error.ts";
import { toFailure } from "../../protocol/failure.ts";
import type { WorkflowReport } from "../../protocol/invocation/workflow-messages.ts";
import { describeIssues } from "../../protocol/lenient-read.ts";
import { readUserRunners } from "../../runner/registered/user-runners.ts";
import { isInstalled } from "./imported-files.ts";
import { type ConfigReply, ConfigRequest, type ToolDescription } from "./config-messages.ts";

const inSource = extname(import.meta.url) === ".ts";
/** Tutti itself: `src` in a clone, `dist` in an installed package. */
const ownCode = join(import.meta.dirname, inSource ? "../.." : "..");
const ownModule = (path: string): string => pathToFileURL(join(ownCode, `${path}${extname(import.meta.url)}`)).href;
/** A config may import Tutti wherever it is: it means the Tutti that reads it. */
const ownModules = new Map([
  ["tutti", ownModule(inSource ? "index" : "node/index")],
  ["tutti/testing", ownModule(inSource ? "library/testing" : "node/testing")],
  ["tutti/client", ownModule("client/index")],
  ["tutti/protocol", ownModule("protocol/index")],
]);

const callable = { tools: new Map<string, UserTool>(), runners: new Map<string, UserTool>() };
const workflows = new Map<string, CodeWorkflow>();
const running = new Map<number, AbortController>();
const runningWorkflows = new Map<number, RemoteWorkflow>();

function reply(message: ConfigReply): void {
  process.send?.(message);
}

type Load = ConfigRequest & { readonly kind: "load" };
type Call = ConfigRequest & { readonly kind: "call" };

async function load({ file, files, taken }: Load): Promise<void> {
  try {
    guardLoading(new Map(Object.entries(files)));
    const exported: Record<string, unknown> = { ...(await import(pathToFileURL(file).href)) };
    const config: unknown = "default" in exported ? exported["default"] : exported;
    if (typeof config !== "object" || config === null) {
      return reply({ kind: "loaded", config, tools: [], runners: [], issues: [] });
    }
    const [tools, runners] = [listed(config, "tools"), listed(config, "runners")];
    const readTools = readUserTools(tools ?? [], { file, taken });
    const readRunners = readUserRunners((runners ?? []).map(asRunner), { file });
    for (const tool of readTools.ok ? readTools.tools : []) callable.tools.set(tool.name, tool);
    for (const { kind, call: run } of readRunners.ok ? readRunners.runners : []) callable.runners.set(kind, run);
    for (const each of readRunners.ok ? (runners ?? []) : []) if (isWorkflow(each)) workflows.set(each.name, each);
    reply({
      kind: "loaded",
      // A field that is no list is left for the check of the whole config.
      config: {
        ...config,
        ...(tools === undefined ? {} : { tools: [] }),
        ...(runners === undefined ? {} : { runners: [] }),
      },
      tools: readTools.ok ? readTools.tools.map(described) : [],
      runners: readRunners.ok
        ? readRunners.runners.map(({ kind, runtime, description, call: run }) => ({
            kind,
            runtime,
            description,
            ...(workflows.has(kind) ? {} : { call: described(run) }),
          }))
        : [],
      issues: [...(readTools.ok ? [] : readTools.issues), ...(readRunners.ok ? [] : readRunners.issues)],
    });
  } catch (thrown) {
    reply({ kind: "unusable", message: thrownMessage(thrown) });
  }
}

function listed(config: object, field: "tools" | "runners"): readonly unknown[] | undefined {
  const value: unknown = Object.entries(config).find(([name]) => name === field)?.[1];
  return Array.isArray(value) ? value : undefined;
}

/** What `workflow` of the library returns. */
function isWorkflow(value: unknown): value is CodeWorkflow {
  return (
    typeof value === "object" &&
    value !== null &&
    "kind" in value &&
    value.kind === "workflow" &&
    "name" in value &&
    typeof value.name === "string" &&
    "input" in value &&
    isStandardSchema(value.input) &&
    "run" in value &&
    isFunction(value.run)
  );
}

/** A workflow is checked like every runner; it runs by operations, and never by one call. */
function asRunner(value: unknown): unknown {
  if (!isWorkflow(value)) return value;
  const description = value.description ?? `the workflow ${value.name}; its prompt is its input, as JSON`;
  return { kind: value.name, description, run: () => undefined };
}

function described({ name, declaration, effects, repeatable, timeoutMs }: UserTool): ToolDescription {
  return {
    name,
    description: declaration.description,
    parameters: { ...declaration.parameters },
    effects: [...effects],
    repeatable,
    timeout_ms: timeoutMs,
  };
}

/** Between the agreement and the loading of a file somebody may have changed it, so the content that Node runs is compared. */
function guardLoading(trusted: ReadonlyMap<string, string>): void {
  /** What Tutti's own code imports, such as the packages that it depends on, is not the config's. */
  const ofTutti = new Set<string>();
  const isOwn = (url: string): boolean => ofTutti.has(url) || url.startsWith(pathToFileURL(`${ownCode}${sep}`).href);
  const isTrusted = (url: string): boolean => url.startsWith("file:") && trusted.has(fileURLToPath(url));
  registerHooks({
    resolve(specifier, context, next) {
      const url = ownModules.get(specifier);
      if (url !== undefined) return { url, shortCircuit: true };
      const { parentURL = "" } = context;
      const resolved = orOwnZod(specifier, () => next(specifier, context));
      if (resolved === undefined) {
        const own = next(specifier, { ...context, parentURL: import.meta.url });
        ofTutti.add(own.url);
        return own;
      }
      // This file imports the config, which does not make the config Tutti's own.
      if (isOwn(parentURL) && !isTrusted(resolved.url)) ofTutti.add(resolved.url);
      return resolved;
    },
    load(url, context, next) {
      const loaded = next(url, context);
      if (!url.startsWith("file:")) return loaded;
      const path = fileURLToPath(url);
      const expected = trusted.get(path);
      if (expected === undefined) {
        if (isOwn(url)) return loaded;
        const why = isInstalled(path)
          ? "only packages that are imported by a literal name, and their declared dependencies, are"
          : "only files that are imported by a literal name are";
        throw new Error(`${path} is not one of the files that were trusted with the config; ${why}`);
      }
      const { source } = loaded;
      const bytes =
        typeof source === "string" ? Buffer.from(source) : ArrayBuffer.isView(source) ? source : readFileSync(path);
      if (createHash("sha256").update(bytes).digest("hex") !== expected) {
        throw new Error(`${path} has changed since it was trusted; see \`tutti trust\``);
      }
      return loaded;
    },
  });
}

/** Undefined for zod where the project has none: then the config gets the one that Tutti uses, wherever the config lies. */
function orOwnZod<T>(specifier: string, resolve: () => T): T | undefined {
  try {
    return resolve();
  } catch (thrown) {
    const code = errno(thrown);
    const missing = code === "ERR_MODULE_NOT_FOUND" || code === "MODULE_NOT_FOUND";
    if (missing && /^zod(?:\/|$)/.test(specifier)) return undefined;
    throw thrown;
  }
}

async function call({ id, of, name, input, key, roots }: Call): Promise<void> {
  const aborted = new AbortController();
  running.set(id, aborted);
  try {
    const prepared = callable[of].get(name)?.prepare(input);
    if (prepared === undefined) throw new TuttiError("not_found", `the config has no ${name} among its ${of}`);
    if (!prepared.ok) {
      throw new TuttiError("invalid_input", `the arguments do not fit: ${describeIssues(prepared.issues)}`);
    }
    const step = {
      signal: aborted.signal,
      key,
      noted: undefined,
      note: async () => undefined,
      live: (_: string, text: string) => reply({ kind: "progress", id, text }),
      now: () => Date.now(),
    };
    reply({ kind: "result", id, value: await prepared.run({ step, rights: { tools: "*", roots }, offLimits: [] }) });
  } catch (thrown) {
    reply({ kind: "failed", id, failure: toFailure(toTuttiError(thrown)) });
  } finally {
    running.delete(id);
  }
}

async function runWorkflowOf(begun: ConfigRequest & { readonly kind: "run" }): Promise<void> {
  const { id, name, input, task, attempt, agent } = begun;
  const tell = (report: WorkflowReport): void => reply({ id, ...report });
  const remote = remoteWorkflow({ task, attempt, agent, tell, nameOf });
  runningWorkflows.set(id, remote);
  try {
    const found = workflows.get(name);
    if (found === undefined) throw new TuttiError("not_found", `the config has no workflow ${name} among its runners`);
    const read = await readWith(found.input, input, `the input of ${name}`);
    reply({ kind: "result", id, value: plain(await runWorkflow(found, remote.port, read)) });
  } catch (thrown) {
    reply({ kind: "failed", id, failure: toFailure(toTuttiError(thrown)) });
  } finally {
    runningWorkflows.delete(id);
  }
}

/** Agents of a project are its files and fixed when a tree starts, so one that is written in the config is not among them. */
function nameOf(agent: AnyAgent | string): string {
  if (typeof agent === "string") return agent;
  const message = `a workflow of a config runs the agents of its project by their names, as in \`durable.run(key, "${agent.name}", …)\``;
  throw new TuttiError("invalid_input", `${message}; agents in code belong to a program that uses openTutti`);
}

/** A config that loops for ever keeps this thread from noticing that Tutti is gone, so another thread looks. */
function endWithParent(): void {
  const watch = `setInterval(() => process.ppid === ${process.ppid} || process.kill(process.pid, "SIGKILL"), 1000)`;
  new Worker(watch, { eval: true, execArgv: [], env: {} }).unref();
  process.on("disconnect", () => process.exit());
}

endWithParent();
// Ctrl-C reaches every process of the terminal; Tutti decides when this one ends.
process.on("SIGINT", () => undefined);
// What a workflow did not wait for ends with it, and must not end what else runs here.
process.on("unhandledRejection", (reason) => {
  if (!(reason instanceof TuttiError) || reason.code !== "canceled") throw reason;
});
process.on("message", (message) => {
  const request = ConfigRequest.parse(message);
  switch (request.kind) {
    case "load":
      return void load(request);
    case "call":
      return void call(request);
    case "run":
      return void runWorkflowOf(request);
    case "ping":
      return reply({ kind: "pong" });
    case "abort":
      running.get(request.id)?.abort(new TuttiError("canceled", "the call was canceled"));
      return runningWorkflows.get(request.id)?.hear(request);
    default:
      return runningWorkflows.get(request.id)?.hear(request);
  }
});
