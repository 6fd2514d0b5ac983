// What tests of conversations share: a model whose replies a test writes, verbs that record their calls, and the turns.

import { isVerb, verbCatalogue, type VerbName } from "../../src/core/verb-catalogue.ts";
import { messageIn } from "../../src/engine/recorded-message.ts";
import type { ConversationDeps, VerbHandlers } from "../../src/manager/conversation/conversation-deps.ts";
import { conversationRunner } from "../../src/manager/conversation/conversation-runner.ts";
import type { ModelRequest } from "../../src/model-port.ts";
import { TurnOutcome } from "../../src/protocol/conversation/conversation-view.ts";
import { messageText, userMessage } from "../../src/protocol/task/message.ts";
import { idInName } from "../../src/store/names.ts";
import { killed, type Loops, openWaits, started, world, type World } from "./engine-kit.ts";
import { settle } from "./settle.ts";
import { type Cleanup, tempFolder } from "./temp-folder.ts";

export type Reply = string | ((request: ModelRequest) => string | Promise<string>);
type Verbs = Partial<Record<VerbName, (args: Record<string, unknown>) => unknown>>;

export interface Ended {
  readonly reply: string;
  readonly outcome: TurnOutcome;
}

export interface Talk {
  world: World;
  readonly task: string;
  readonly sent: ModelRequest[];
  /** The verbs that ran, with their arguments. */
  readonly ran: string[];
  say(text: string): Promise<void>;
  /** Says it and waits until nothing more happens. Undefined when the turn waits for something. */
  turn(text: string): Promise<Ended | undefined>;
  ended(): Ended[];
  /** Answers the only open ask. */
  answer(approved: boolean, by?: "person" | "operator"): Promise<Ended | undefined>;
  /** The process is killed, and another goes on. */
  kill(t: Cleanup): Promise<void>;
}

export const use = (verb: string, args: Record<string, unknown> = {}): string => JSON.stringify({ action: verb, args });
export const final = (message: string): string => JSON.stringify({ action: "final", message });

/** The replies are used in order, the last one again and again. A summary is written by `summary`. */
export async function talk(
  t: Cleanup,
  replies: readonly Reply[],
  options: {
    readonly verbs?: Verbs;
    readonly deps?: Partial<ConversationDeps>;
    readonly summary?: Reply;
    readonly input?: object;
    readonly folder?: string;
  } = {},
): Promise<Talk> {
  const sent: ModelRequest[] = [];
  const ran: string[] = [];
  const replyTo = async (request: ModelRequest): Promise<string> => {
    const isSummary = request.agent === "_summary";
    const before = sent.filter(({ agent }) => agent !== "_summary").length;
    sent.push(request);
    const reply = isSummary ? (options.summary ?? "a summary") : (replies[before] ?? replies.at(-1) ?? "");
    return typeof reply === "string" ? reply : reply(request);
  };
  const usage = { input_tokens: 10, output_tokens: 5, money_micro_usd: 100 };
  const deps: ConversationDeps = {
    defaultModel: "test/model",
    model: () => ({
      estimate: () => usage,
      async call(request, { onText }) {
        const text = await replyTo(request);
        onText?.(text);
        return {
          message: { name: null, role: "assistant", parts: [{ part_type: "text", data: text }] },
          usage,
          finish: "stop",
        };
      },
    }),
    verbs: async () => handlersOf(options.verbs ?? {}, ran),
    preview: async (verb) => ({ lines: [`preview of ${verb}`] }),
    recallGoals: async () => [],
    ...options.deps,
  };
  const loops: Loops = { conversation: (durable) => conversationRunner(deps)(durable, {}) };
  const at = world(options.folder ?? tempFolder(t), loops);
  t.after(() => at.stop());
  const task = await started(at, "conversation", { input: options.input ?? {} });
  const talking: Talk = {
    world: at,
    task,
    sent,
    ran,
    say: (text) => talking.world.engine.message(task, { ...userMessage(text), name: "Ada" }),
    async turn(text) {
      const before = talking.ended().length;
      await talking.say(text);
      await settle();
      return talking.ended()[before];
    },
    ended: () => endedTurns(talking.world, task),
    async answer(approved, by = "person") {
      const before = talking.ended().length;
      const [ask = ""] = openWaits(talking.world);
      await talking.world.engine.deliver(ask, { kind: "approval", approved }, { kind: by, name: "Ada" });
      await settle();
      return talking.ended()[before];
    },
    async kill(cleanup) {
      talking.world = await killed(talking.world, cleanup, loops);
    },
  };
  return talking;
}

function handlersOf(verbs: Verbs, ran: string[]): VerbHandlers {
  const entries = Object.keys(verbCatalogue)
    .filter(isVerb)
    .map((verb) => [
      verb,
      async (args: Record<string, unknown>) => {
        ran.push(`${verb} ${JSON.stringify(args)}`);
        return (await verbs[verb]?.(args)) ?? { ok: true };
      },
    ]);
  return Object.fromEntries(entries) as VerbHandlers;
}

function endedTurns({ store }: World, task: string): Ended[] {
  const id = idInName(store.salt, task);
  const attempts = id === undefined ? [] : [1, 2].flatMap((attempt) => store.messages(id, attempt));
  const messages = attempts.map((line) => messageIn(line.body, { ...line, task }));
  return messages.flatMap((message) => {
    const data = message.parts.find((part) => part.part_type === "data")?.data;
    const outcome = TurnOutcome.safeParse(data);
    return outcome.success ? [{ reply: messageText(message), outcome: outcome.data }] : [];
  });
}
