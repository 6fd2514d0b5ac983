// One process of a session: started, greeted, prompted, watched and ended. It is the body of a step that is never repeated.

import { z } from "zod";

import { protectedPart } from "../../agent/workspace/protected-files.ts";
import { resolvePath } from "../../agent/workspace/resolve-path.ts";
import type { ApprovalSource } from "../../core/approval.ts";
import { TuttiError } from "../../protocol/error.ts";
import { type CompleteMessage, type Message, messageText, userMessage } from "../../protocol/task/message.ts";
import type { RunningStep } from "../../ports.ts";
import { keptOutput } from "../command/kept-output.ts";
import { endProcesses, type ProcessNote } from "../shared/process/end-processes.ts";
import { type HeldProcess, startHeld } from "../shared/process/held-process.ts";
import { within } from "../shared/process/within.ts";
import { Approver } from "./approver.ts";
import { Connection, RpcError, rpcCodes } from "./connection.ts";
import * as frames from "./frames.ts";
import { type LaunchOptions, prepareLaunch, prepareProgram } from "./launch.ts";
import { effectsOf, optionFor, pathsOf, permissionQuestion } from "./permission.ts";
import { readFile, writeFile } from "./session-files.ts";
import { SessionTerminals } from "./session-terminals.ts";
import { nothingCounted, SessionUpdates, type UpdateLimits } from "./session-updates.ts";
import { Silence } from "./silence.ts";
import { type Trouble, troubleIn } from "./trouble.ts";

export const SessionOutcome = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("done"), text: z.string() }),
  /** The agent's own usage limit is reached; nothing can be done before that time. */
  z.object({ kind: z.literal("limit"), until: z.number() }),
  /** A limit of the task's budget was reached, and the agent did not stop when it was told to. */
  z.object({ kind: z.literal("cut") }),
]);
export type SessionOutcome = z.infer<typeof SessionOutcome>;

/** What the next process of the same session needs to know. */
export const SessionState = z.object({
  /** Which process it is, from 1. */
  process: z.int(),
  /** The session's id at the agent; null before there is one. */
  session: z.string().nullable(),
  /** Whether the agent can take a session up again. */
  load: z.boolean(),
  /** Prompts that were delivered. */
  prompts: z.int(),
  counted: z.object({ input: z.number(), output: z.number(), micros: z.number() }),
});
export type SessionState = z.infer<typeof SessionState>;

export const newSession: SessionState = { process: 1, session: null, load: false, prompts: 0, counted: nothingCounted };

export interface SessionTimes {
  /** For the answer to a request other than a prompt. */
  readonly answerMs: number;
  /** Silence after which a person is asked. */
  readonly stallMs: number;
  /** Between the request to cancel and the end of the processes. */
  readonly cancelMs: number;
  /** Between asking the processes to end and killing them. */
  readonly graceMs: number;
}

export const defaultTimes: SessionTimes = { answerMs: 60_000, stallMs: 10 * 60_000, cancelMs: 3_000, graceMs: 2_000 };

export interface SessionOptions {
  readonly launch: LaunchOptions;
  readonly agent: string;
  readonly prompt: Message;
  /** What comes before the text of the first prompt, such as the agent's instructions. */
  readonly instructions: string;
  readonly sources: readonly ApprovalSource[];
  readonly times: SessionTimes;
  readonly limits?: UpdateLimits | undefined;
  readonly state: SessionState;
  /** Kept with the next record. */
  readonly save: (state: SessionState) => void;
}

/** How often lines that are no frames are tolerated: some programs print to their output. */
const mostBadFrames = 100;
/** How often the agent is put back into the mode in which it asks the most. */
const mostModeChanges = 20;
const limitsEveryMs = 5_000;
const stderrBytes = 16_384;
const goOn = "You were interrupted. Go on with the task from where you are; look first at what is done already.";

export async function runSession(step: RunningStep, options: SessionOptions): Promise<SessionOutcome> {
  const { argv, env } = await prepareLaunch(options.launch);
  step.signal.throwIfAborted();
  const held = await startHeld({ argv, cwd: options.launch.folder.cwd, env, step: step.key });
  const session = new Session(step, options, held);
  try {
    return await session.run();
  } finally {
    await session.end();
  }
}

class Session {
  readonly #step: RunningStep;
  readonly #options: SessionOptions;
  readonly #held: HeldProcess;
  readonly #connection: Connection;
  readonly #approver: Approver;
  readonly #updates: SessionUpdates;
  readonly #terminals: SessionTerminals;
  readonly #silence: Silence;
  readonly #stderr = keptOutput(stderrBytes);
  /** Real paths of files whose change was allowed. */
  readonly #allowed = new Set<string>();
  #state: SessionState;
  #badFrames = 0;
  #modeChanges = 0;
  #isPrompting = false;

  constructor(step: RunningStep, options: SessionOptions, held: HeldProcess) {
    const { launch, sources, state } = options;
    this.#step = step;
    this.#options = options;
    this.#held = held;
    this.#state = state;
    this.#approver = new Approver(step.during, sources);
    const { limits } = options;
    this.#updates = new SessionUpdates(step, { name: launch.name, counted: state.counted, limits });
    this.#terminals = new SessionTerminals(
      {
        roots: launch.folder.roots,
        offLimits: launch.hidden,
        confined: launch.sandbox.confined,
        wrap: (program, cwd) => prepareProgram(launch, program, cwd),
        step: step.key,
        note: (others) => this.#note(others),
      },
      this.#approver,
    );
    held.stderr.on("data", (chunk: Buffer) => {
      this.#stderr.add(chunk);
      step.live("output", chunk.toString("utf8"));
    });
    this.#connection = new Connection(
      { input: held.stdout, output: held.stdin },
      {
        onNotification: (method, params) => this.#onNotification(method, params),
        onRequest: (method, params) => this.#onRequest(method, params),
        onBadFrame: (problem, line) => this.#onBadFrame(problem, line),
      },
    );
    this.#silence = new Silence(step.during, {
      profile: launch.name,
      stallMs: options.times.stallMs,
      isExcused: () => this.#approver.isAsking || this.#terminals.isRunning,
    });
  }

  #note(others: readonly ProcessNote[] = []): Promise<void> {
    return this.#step.note({ process: this.#held.note, others });
  }

  /** The session cannot go on: the prompt that is open fails with the reason. */
  #fail(reason: TuttiError): void {
    this.#connection.close(reason);
  }

  async run(): Promise<SessionOutcome> {
    const { signal } = this.#step;
    await this.#note();
    signal.throwIfAborted();
    this.#held.release();
    try {
      const trouble = await this.#greet();
      return trouble === undefined ? await this.#converse() : this.#giveUp(trouble);
    } catch (thrown) {
      if (thrown instanceof LimitReached) return this.#giveUp({ kind: "limit", until: thrown.until });
      signal.throwIfAborted();
      throw await this.#explain(thrown);
    }
  }

  async #ask<T>(method: string, params: unknown, schema: z.ZodType<T>): Promise<T> {
    const { answerMs } = this.#options.times;
    const late = AbortSignal.timeout(answerMs);
    const either = AbortSignal.any([this.#step.signal, late]);
    try {
      return schema.parse(await this.#connection.request(method, params, either));
    } catch (thrown) {
      if (late.aborted) throw failed(`the agent did not answer ${method} within ${answerMs} ms`);
      if (thrown instanceof z.ZodError) throw failed(`the agent answered ${method} with something that cannot be used`);
      throw thrown;
    }
  }

  /** Undefined when the session is open. */
  async #greet(): Promise<Trouble | undefined> {
    const { launch } = this.#options;
    const greeted = await this.#ask(
      "initialize",
      {
        protocolVersion: frames.protocolVersion,
        clientCapabilities: { fs: { readTextFile: true, writeTextFile: true }, terminal: true },
        clientInfo: { name: "tutti", version: "1" },
      },
      frames.InitializeResult,
    );
    if (greeted.protocolVersion !== frames.protocolVersion) {
      throw failed(
        `the agent speaks version ${greeted.protocolVersion} of the protocol; Tutti speaks ${frames.protocolVersion}`,
      );
    }
    const resumed = this.#state.session !== null && this.#state.load && greeted.agentCapabilities.loadSession;
    let opened: frames.SessionResult;
    try {
      opened = await this.#openLoggedIn(resumed ? this.#state.session : null);
    } catch (thrown) {
      if (!(thrown instanceof RpcError)) throw thrown;
      if (thrown.code === frames.authRequired) return { kind: "login" };
      const trouble = troubleIn(thrown.message, this.#step.now());
      if (trouble === undefined) throw thrown;
      return trouble;
    }
    const session = opened.sessionId ?? this.#state.session;
    if (session === null) throw failed("the agent opened a session without an id");
    const mode = await this.#setMode(session, opened);
    await this.#setModel(session, opened);
    const { name, version } = greeted.agentInfo ?? {};
    this.#keep({ session, load: greeted.agentCapabilities.loadSession });
    this.#step.during.tell("started", {
      type: "session.started",
      data: {
        profile: launch.name,
        session,
        agent: name === undefined ? null : { name, version: version ?? "" },
        model: launch.model ?? null,
        mode,
        folder: launch.folder.cwd,
        confined: launch.sandbox.confined,
        resumed,
      },
    });
    return undefined;
  }

  async #openLoggedIn(load: string | null): Promise<frames.SessionResult> {
    const { cwd } = this.#options.launch.folder;
    const open = (): Promise<frames.SessionResult> =>
      load === null
        ? this.#ask("session/new", { cwd, mcpServers: [] }, frames.SessionResult)
        : this.#ask("session/load", { sessionId: load, cwd, mcpServers: [] }, frames.SessionResult.nullable()).then(
            (result) => ({ ...result, sessionId: load }),
          );
    try {
      return await open();
    } catch (thrown) {
      const method = this.#options.launch.profile.auth.find(
        ({ env }) => env === undefined || process.env[env] !== undefined,
      )?.method;
      if (!(thrown instanceof RpcError) || thrown.code !== frames.authRequired || method === undefined) throw thrown;
      await this.#ask("authenticate", { methodId: method }, z.unknown());
      return open();
    }
  }

  async #setMode(sessionId: string, { modes }: frames.SessionResult): Promise<string | null> {
    const { name, profile } = this.#options.launch;
    const { mode: wanted } = profile;
    if (modes === undefined || modes === null) return null;
    if (wanted === null || modes.currentModeId === wanted) return modes.currentModeId;
    const offered = modes.availableModes.map(({ id }) => id);
    if (!offered.includes(wanted)) {
      const why = `${name} offers the modes ${offered.join(", ")}, but not ${wanted}, in which it asks the most`;
      throw new TuttiError("refused", `${why}; change mode in the profile`);
    }
    await this.#ask("session/set_mode", { sessionId, modeId: wanted }, z.unknown());
    return wanted;
  }

  async #setModel(sessionId: string, { configOptions }: frames.SessionResult): Promise<void> {
    const { name, profile, model } = this.#options.launch;
    if (model === undefined || profile.model?.option !== true) return;
    const option = configOptions?.find(({ category, id }) => category === "model" || id === "model");
    if (option === undefined) {
      throw new TuttiError("invalid_input", `${name} does not let its model be chosen; leave the model out`);
    }
    await this.#ask("session/set_config_option", { sessionId, configId: option.id, value: model }, z.unknown());
  }

  #keep(changed: Partial<SessionState>): void {
    this.#state = { ...this.#state, ...changed };
    this.#options.save(this.#state);
  }

  /** Prompts until nothing is left to be said. */
  async #converse(): Promise<SessionOutcome> {
    const { prompt, instructions } = this.#options;
    const isNew = this.#state.prompts === 0;
    const first = isNew ? withInstructions(instructions, messageText(prompt)) : goOn;
    let next: { readonly text: string; readonly said?: Message } = {
      text: first,
      said: isNew ? prompt : userMessage(goOn),
    };
    const mail = new Mailbox(this.#step);
    try {
      for (;;) {
        const turn = await this.#turn(next);
        if (turn === "cut") return { kind: "cut" };
        if (turn === "over") {
          next = { text: goOn, said: userMessage(goOn) };
          continue;
        }
        const trouble = turn.isTextOnly ? troubleIn(turn.text, this.#step.now()) : undefined;
        if (trouble !== undefined) return this.#giveUp(trouble);
        const letter = await mail.next();
        if (letter === undefined) return this.#done(turn.text);
        next = { text: messageText(letter), said: letter };
      }
    } finally {
      mail.close();
    }
  }

  #done(text: string): SessionOutcome {
    this.#step.during.tell("ended", { type: "session.ended", data: { reason: "done" } });
    return { kind: "done", text };
  }

  #giveUp(trouble: Trouble): SessionOutcome {
    const { name, profile } = this.#options.launch;
    this.#step.during.tell("ended", { type: "session.ended", data: { reason: trouble.kind } });
    if (trouble.kind === "limit") return { kind: "limit", until: trouble.until };
    const how = profile.login === undefined ? "log in there" : `log in with: ${profile.login}`;
    throw new TuttiError("unauthorized", `${name} is not logged in; ${how}`);
  }

  /** `over`: it was stopped at a limit, and the person agreed to go on. `cut`: it did not let itself be stopped. */
  async #turn({
    text,
    said,
  }: {
    readonly text: string;
    readonly said?: Message;
  }): Promise<{ readonly text: string; readonly isTextOnly: boolean } | "over" | "cut"> {
    const { during } = this.#step;
    await during.passLimits();
    const prompt = this.#state.prompts + 1;
    if (said !== undefined) during.say(`prompt${prompt}`, said);
    this.#keep({ prompts: prompt });
    during.tell(`prompted${prompt}`, { type: "session.prompted", data: { prompt } });
    // On disk before it is sent: after a crash nobody sends it a second time.
    await this.#note();
    this.#updates.begin();
    const answered = this.#prompt(text);
    const result = await this.#watched(answered);
    const { text: reply, isTextOnly } = this.#updates.end(result?.usage);
    this.#keep({ counted: this.#updates.counted });
    const reason = result?.stopReason ?? "cancelled";
    during.tell(`answered${prompt}`, { type: "session.answered", data: { prompt, reason } });
    if (result === undefined) return "cut";
    if (reason === "end_turn") return { text: reply, isTextOnly };
    if (reason === "cancelled" && !during.withinLimits) return "over";
    throw failed(`the session ended its turn with ${reason}${reply === "" ? "" : `: ${reply.slice(0, 300)}`}`);
  }

  async #prompt(text: string): Promise<z.infer<typeof frames.PromptResult>> {
    this.#isPrompting = true;
    try {
      const params = { sessionId: this.#state.session, prompt: [{ type: "text", text }] };
      const answer = await this.#connection.request("session/prompt", params);
      const result = frames.PromptResult.safeParse(answer);
      if (!result.success) throw failed("the agent answered the prompt with something that cannot be used");
      return result.data;
    } catch (thrown) {
      if (!(thrown instanceof RpcError)) throw thrown;
      const trouble = troubleIn(thrown.message, this.#step.now());
      if (trouble?.kind === "login" || thrown.code === frames.authRequired) this.#giveUp({ kind: "login" });
      if (trouble?.kind === "limit") throw new LimitReached(trouble.until);
      throw thrown;
    } finally {
      this.#isPrompting = false;
    }
  }

  /** Waits for the answer, and stops the turn when the task is ended, a limit is reached or nobody wants to wait any more. */
  async #watched<T>(answered: Promise<T>): Promise<T | undefined> {
    const { signal, during } = this.#step;
    const { cancelMs } = this.#options.times;
    const stop = Promise.withResolvers<"aborted" | "limit">();
    const aborted = (): void => stop.resolve("aborted");
    signal.addEventListener("abort", aborted);
    const timer = setInterval(() => during.withinLimits || stop.resolve("limit"), limitsEveryMs);
    this.#onSpent = () => during.withinLimits || stop.resolve("limit");
    const silence = this.#silence.watch();
    try {
      if (signal.aborted) aborted();
      const first = await Promise.race([answered.then(() => "answered" as const), stop.promise, silence.given]);
      if (first === "answered") return await answered;
      this.#connection.notify("session/cancel", { sessionId: this.#state.session });
      this.#approver.withdrawAll();
      const stopped = await within(answered, cancelMs);
      signal.throwIfAborted();
      if (first === "stalled") {
        throw failed("the session was stopped because it had been silent for too long", "unknown");
      }
      return stopped ? await answered : undefined;
    } finally {
      silence.stop();
      clearInterval(timer);
      this.#onSpent = undefined;
      signal.removeEventListener("abort", aborted);
      answered.catch(() => undefined);
    }
  }

  #onSpent: (() => unknown) | undefined;

  #onNotification(method: string, params: unknown): void {
    // What comes after the end was asked for has no place any more.
    if (method !== "session/update" || this.#step.signal.aborted) return;
    this.#silence.heard();
    const read = frames.SessionNotification.safeParse(params);
    if (!read.success) return this.#onBadFrame("it is no update of a session", JSON.stringify(params) ?? "");
    const { sessionId, update } = read.data;
    if (this.#state.session !== null && sessionId !== this.#state.session) return;
    this.#updates.take(update);
    this.#onSpent?.();
    if (update.sessionUpdate === "current_mode_update") this.#keepMode(update);
  }

  /** A session does not leave the mode in which it asks the most by itself. */
  #keepMode(update: unknown): void {
    const mode = frames.ModeUpdate.safeParse(update).data?.currentModeId;
    const { mode: wanted } = this.#options.launch.profile;
    if (wanted === null || mode === undefined || mode === wanted) return;
    this.#modeChanges += 1;
    if (this.#modeChanges > mostModeChanges) throw failed("the agent does not stay in the mode in which it asks");
    this.#connection
      .request("session/set_mode", { sessionId: this.#state.session, modeId: wanted })
      .catch(() => this.#fail(failed(`the agent went into the mode ${mode} and did not come back`)));
  }

  #onBadFrame(problem: string, line: string): void {
    this.#badFrames += 1;
    this.#updates.bad(problem, line);
    if (this.#badFrames > mostBadFrames) {
      throw failed(`the agent sent more than ${mostBadFrames} lines that cannot be used; the last one: ${problem}`);
    }
  }

  async #onRequest(method: string, params: unknown): Promise<unknown> {
    this.#silence.heard();
    const { roots } = this.#options.launch.folder;
    const files = { roots, offLimits: this.#options.launch.hidden, approver: this.#approver, allowed: this.#allowed };
    switch (method) {
      case "session/request_permission":
        return { outcome: await this.#permit(frames.PermissionRequest.parse(params)) };
      case "fs/read_text_file":
        return readFile(params, files);
      case "fs/write_text_file":
        return writeFile(params, files);
      case "terminal/create":
        return this.#terminals.create(params);
      case "terminal/output":
        return this.#terminals.output(params);
      case "terminal/wait_for_exit":
        return this.#terminals.waitForExit(params);
      case "terminal/kill":
        return this.#terminals.kill(params);
      case "terminal/release":
        return this.#terminals.release(params);
      default:
        throw new RpcError(rpcCodes.unknownMethod, `Tutti does not know the method ${method}`);
    }
  }

  async #permit({ toolCall, options }: frames.PermissionRequest): Promise<ReturnType<typeof optionFor>> {
    if (!this.#isPrompting) return { outcome: "cancelled" };
    const call = this.#updates.requested(toolCall);
    const { launch, agent } = this.#options;
    const { confined } = launch.sandbox;
    const files = await this.#filesOf(call);
    const isProtected = files.some((file) => file.isProtected);
    // A confined session finds protected files read-only, so a yes would promise too much.
    if (isProtected && confined) return optionFor(options, false);
    const effect = {
      effects: [...effectsOf(call), ...(isProtected ? (["protected"] as const) : [])],
      confined: confined && files.every(({ real }) => real !== undefined),
    };
    const protectedFiles = files.flatMap(({ path, isProtected: is }) => (is ? [path] : []));
    const asked = { agent, profile: launch.name, call, effect, protectedFiles };
    const verdict = await this.#approver.decide({
      tool: `acp.${call.kind ?? "other"}`,
      effect,
      question: () => permissionQuestion(asked),
      details: { profile: launch.name, call },
    });
    if (verdict.allowed) for (const { real } of files) if (real !== undefined) this.#allowed.add(real);
    return optionFor(options, verdict.allowed);
  }

  async #filesOf(
    call: frames.ToolCallUpdate,
  ): Promise<{ readonly path: string; readonly real: string | undefined; readonly isProtected: boolean }[]> {
    const { roots, cwd } = this.#options.launch.folder;
    return Promise.all(
      pathsOf(call, cwd).map(async (path) => {
        const resolved = await resolvePath(path, roots).catch(() => undefined);
        const part = resolved === undefined ? undefined : await protectedPart(resolved);
        return { path, real: resolved?.path, isProtected: part !== undefined };
      }),
    );
  }

  /** What went wrong, in words that help: how the process ended says more than that it closed its output. */
  async #explain(thrown: unknown): Promise<unknown> {
    if (thrown instanceof RpcError) return failed(`the agent answered with an error: ${thrown.message}`, "unknown");
    if (!(thrown instanceof TuttiError) || thrown.code !== "unreachable") return thrown;
    if (!(await within(this.#held.exited, 500))) return failed("the agent closed its output", "unknown");
    const { code, signal } = await this.#held.exited;
    if (signal !== null && this.#step.stopping === true) {
      return new TuttiError("stopped", `the agent was ended by ${signal} while Tutti was being stopped`);
    }
    const how = signal === null ? `with exit status ${code}` : `by ${signal}`;
    const said = this.#stderr.text().trim().split("\n").at(-1)?.trim().slice(0, 300).toWellFormed() ?? "";
    return failed(`the agent ended ${how}${said === "" ? "" : `: ${said}`}`, "unknown");
  }

  /** Ends the whole tree of processes. */
  async end(): Promise<void> {
    this.#connection.close(new TuttiError("canceled", "the session is over"));
    this.#approver.withdrawAll();
    this.#held.letGo();
    const [terminals, { left }] = await Promise.all([
      this.#terminals.endAll(),
      endProcesses(this.#held.note, { graceMs: this.#options.times.graceMs }),
    ]);
    const pids = [...terminals, ...left];
    if (pids.length === 0) return;
    throw new TuttiError("io", `process ${pids.join(", ")} of the session cannot be ended; end it yourself`, {
      details: { pids },
    });
  }
}

/** Leaves the conversation from inside of a prompt. */
class LimitReached extends Error {
  readonly until: number;
  constructor(until: number) {
    super("the agent's usage limit is reached");
    this.until = until;
  }
}

/** Messages that people send while the session works; each becomes a prompt of its own. */
class Mailbox {
  readonly #step: RunningStep;
  readonly #closed = new AbortController();
  readonly #letters: CompleteMessage[] = [];
  #count = 0;
  #coming: Promise<void>;

  constructor(step: RunningStep) {
    this.#step = step;
    this.#coming = this.#receive();
  }

  async #receive(): Promise<void> {
    this.#count += 1;
    const letter = await this.#step.during.receive(`mail${this.#count}`, this.#closed.signal).catch(() => undefined);
    if (letter === undefined) return;
    this.#letters.push(letter);
    this.#coming = this.#receive();
  }

  /** Undefined when there is none: no further one is taken then, so that it is left to the task's next attempt. */
  async next(): Promise<CompleteMessage | undefined> {
    const waiting = this.#letters.shift();
    if (waiting !== undefined) return waiting;
    this.close();
    await this.#coming;
    return this.#letters.shift();
  }

  close(): void {
    this.#closed.abort();
  }
}

function withInstructions(instructions: string, text: string): string {
  return instructions.trim() === "" ? text : `${instructions.trim()}\n\n${text}`;
}

function failed(message: string, retry: "never" | "unknown" = "never"): TuttiError {
  return new TuttiError("task_failed", message, { retry });
}
