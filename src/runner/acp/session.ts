// One process of a session: started, greeted, prompted, watched and ended. It is the body of a step that is never repeated.

import { z } from "zod";

import type { ApprovalSource } from "../../core/approval.ts";
import { isKilled } from "../../core/end-reasons.ts";
import { TuttiError } from "../../protocol/error.ts";
import { type Message, messageText, userMessage } from "../../protocol/task/message.ts";
import type { RunningStep } from "../../ports.ts";
import { keptOutput } from "../command/kept-output.ts";
import { liveOutput } from "../command/live-output.ts";
import { endProcesses, type ProcessNote } from "../shared/process/end-processes.ts";
import { type HeldProcess, startHeld } from "../shared/process/held-process.ts";
import { within } from "../shared/process/within.ts";
import { prepareProgram } from "../shared/confined-program.ts";
import { Approver } from "./approver.ts";
import { Connection, RpcError } from "./connection.ts";
import * as frames from "./acp-frames.ts";
import { openSession } from "./open-session.ts";
import { type LaunchOptions, prepareLaunch } from "./session-launch.ts";
import { SessionMail } from "./session-mail.ts";
import { SessionRequests } from "./session-requests.ts";
import type { SessionOutcome, SessionState, SessionTimes } from "./kept-session.ts";
import { SessionTerminals } from "./session-terminals.ts";
import { SessionUpdates, type UpdateLimits } from "./session-updates.ts";
import { Silence } from "./silence.ts";
import { LimitReached, type Trouble, troubleIn } from "./trouble.ts";

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
  const { launcher, ...program } = await prepareLaunch(options.launch);
  step.signal.throwIfAborted();
  const held = await startHeld({ program, launcher, cwd: options.launch.folder.cwd, step: step.key });
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
  readonly #requests: SessionRequests;
  readonly #live: ReturnType<typeof liveOutput>;
  /** Programs that were started for the agent. */
  #others: readonly ProcessNote[] = [];
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
        prepare: (argv, cwd) => prepareProgram(launch, argv, { cwd }),
        step: step.key,
        note: (others) => {
          this.#others = others;
          return this.#note();
        },
      },
      this.#approver,
    );
    this.#requests = new SessionRequests({
      agent: options.agent,
      launch,
      approver: this.#approver,
      updates: this.#updates,
      terminals: this.#terminals,
      isPrompting: () => this.#isPrompting,
    });
    this.#live = liveOutput((text) => step.live("output", text));
    held.stderr.on("data", (chunk: Buffer) => {
      this.#stderr.add(chunk);
      this.#live.add("stderr", chunk);
    });
    this.#connection = new Connection(
      { input: held.stdout, output: held.stdin },
      {
        onNotification: (method, params) => this.#onNotification(method, params),
        onRequest: (method, params) => {
          this.#silence.heard();
          return this.#requests.answer(method, params);
        },
        onBadFrame: (problem, line) => this.#onBadFrame(problem, line),
      },
    );
    this.#silence = new Silence(step.during, {
      profile: launch.name,
      stallMs: options.times.stallMs,
      isExcused: () => this.#approver.isAsking || this.#terminals.isRunning,
    });
  }

  #note(): Promise<void> {
    return this.#step.note({ process: this.#held.note, others: this.#others });
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
      const trouble = await this.#open();
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
  async #open(): Promise<Trouble | undefined> {
    const { launch } = this.#options;
    const { session: known, load: couldLoad } = this.#state;
    const opened = await openSession((method, params, schema) => this.#ask(method, params, schema), {
      launch,
      earlier: couldLoad ? known : null,
      now: () => this.#step.now(),
    });
    if ("trouble" in opened) return opened.trouble;
    const { session, load, ...told } = opened;
    this.#keep({ session, load });
    const { name: profile, folder, sandbox } = launch;
    this.#step.during.tell("started", {
      type: "session.started",
      data: { profile, session, ...told, model: launch.model ?? null, folder: folder.cwd, confined: sandbox.confined },
    });
    return undefined;
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
    const mail = new SessionMail(this.#step);
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
    const { text: reply, isTextOnly } = this.#updates.end(result);
    this.#keep({ counted: this.#updates.counted });
    const reason = result?.stopReason ?? "cancelled";
    during.tell(`answered${prompt}`, { type: "session.answered", data: { prompt, reason } });
    if (result === undefined) return "cut";
    if (reason === "end_turn") return { text: reply, isTextOnly };
    if (reason === "cancelled" && !during.withinLimits) return "over";
    if (reason === "cancelled" && this.#requests.wasDenied) {
      throw new TuttiError("refused", "the agent gave up its turn when it was not permitted to go on");
    }
    throw failed(`the session ended its turn with ${reason}${reply === "" ? "" : `: ${reply.slice(0, 300)}`}`);
  }

  async #prompt(text: string): Promise<z.infer<typeof frames.PromptResult>> {
    this.#isPrompting = true;
    this.#requests.beginTurn();
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
      this.#requests.endTurn();
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
      if (isKilled(signal)) signal.throwIfAborted();
      this.#connection.notify("session/cancel", { sessionId: this.#state.session });
      this.#requests.endTurn();
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
    this.#requests.endTurn();
    this.#held.letGo();
    this.#live.end();
    const graceMs = isKilled(this.#step.signal) ? 0 : this.#options.times.graceMs;
    const [terminals, { left }] = await Promise.all([
      this.#terminals.endAll(graceMs),
      endProcesses(this.#held.note, { graceMs }),
    ]);
    const pids = [...terminals, ...left];
    if (pids.length === 0) return;
    throw new TuttiError("io", `process ${pids.join(", ")} of the session cannot be ended; end it yourself`, {
      details: { pids },
    });
  }
}

function withInstructions(instructions: string, text: string): string {
  return instructions.trim() === "" ? text : `${instructions.trim()}\n\n${text}`;
}

function failed(message: string, retry: "never" | "unknown" = "never"): TuttiError {
  return new TuttiError("task_failed", message, { retry });
}
