// The agent loop: ask the model, carry out its calls, tell it the results, until it has finished.

import { z } from "zod";

import { Usage } from "../protocol/budget.ts";
import { TuttiError } from "../protocol/error.ts";
import type { InvocationFile } from "../protocol/invocation-file.ts";
import { CompleteMessage, completeMessage, messageText } from "../protocol/message.ts";
import type { Durable, Model, ModelRequest } from "../ports.ts";
import { findAgent, type FoundAgent } from "./agents.ts";
import { callsIn, type Conversation, openConversation } from "./conversation.ts";
import type { House } from "./house.ts";
import type { Caller } from "./plan.ts";
import { TaskInput, treeFile } from "./task-input.ts";
import { type Toolbox, toolboxOf } from "./toolbox.ts";
import { runTurn } from "./turn.ts";

export interface LoopDeps {
  /** The model that plays the agents of a tree. */
  readonly model: (file: InvocationFile) => Model;
  readonly house: House;
}

const defaultMaxTurns = 50;
const defaultModel = "rehearsal/script";
/** Tries of one model call that fails with the verdict that nothing happened. */
const maxTries = 3;
const firstPauseMs = 250;

/** Returns the task's result. Only what the model cannot do anything about is thrown. */
export async function agentLoop(durable: Durable, deps: LoopDeps): Promise<unknown> {
  const file = treeFile(durable.rootInput);
  const input = TaskInput.parse(durable.input);
  const agent = findAgent(file, input.agent);
  if (agent === undefined) throw new TuttiError("not_found", `there is no agent ${durable.agent}`);
  const { house } = deps;
  const toolbox = toolboxOf({ file, house, definition: agent.definition, rights: durable.rights, offer: input.tools });
  const talk = await openConversation(durable, input);
  const maxTurns = agent.definition.max_turns ?? defaultMaxTurns;
  for (; talk.turn < maxTurns; talk.next()) {
    talk.begin();
    const reply = await askModel(durable, deps.model(file), { agent, toolbox, talk });
    talk.add([reply.message]);
    const calls = callsIn(reply.message);
    if (calls.length > 0) {
      const caller: Caller = {
        file,
        house,
        rights: durable.rights,
        offer: input.tools,
        agent: { id: agent.id, definition: agent.definition, input },
        now: reply.message.created_at,
      };
      const number = talk.turn;
      const outcome = await runTurn({ durable, number, calls, history: talk.messages, toolbox, caller });
      if (outcome.final !== undefined) return outcome.final.content;
      talk.add(outcome.results);
    }
    const mail = await takeMail(durable, talk.turn);
    talk.add(mail);
    // What came in before the end is heard before the end.
    if (calls.length === 0 && mail.length === 0) {
      const text = messageText(reply.message);
      return text === "" ? null : text;
    }
  }
  throw new TuttiError(
    "task_failed",
    `${agent.id} did not finish in ${maxTurns} turns; raise max_turns or split the task`,
  );
}

const Reply = z.object({ message: CompleteMessage, usage: Usage, finish: z.enum(["stop", "tools", "length"]) });

interface Asked {
  readonly agent: FoundAgent;
  readonly toolbox: Toolbox;
  readonly talk: Conversation;
}

async function askModel(
  durable: Durable,
  model: Model,
  { agent, toolbox, talk }: Asked,
): Promise<z.infer<typeof Reply>> {
  const request: ModelRequest = {
    model: agent.definition.model ?? defaultModel,
    agent: agent.id,
    system: agent.instructions,
    messages: talk.messages,
    tools: toolbox.shown,
  };
  const place = `model:${talk.turn}`;
  for (let tries = 1; ; tries += 1) {
    const key = tries === 1 ? place : `${place}.${tries}`;
    try {
      return await durable.step(
        key,
        {
          repeatable: true,
          schema: Reply,
          // Enough to notice another conversation without reading all of it at every turn.
          input: { model: request.model, agent: request.agent, messages: request.messages.length },
          event: "message.added",
          reserve: model.estimate(request),
          spent: (reply) => reply.usage,
        },
        async (step) => {
          const reply = await model.call(request, {
            signal: step.signal,
            onText: (text) => step.live("text", text),
          });
          const id = `${durable.task}.${durable.attempt}.${durable.run}.${key}`;
          const message = completeMessage({ ...reply.message, id, agent_id: agent.id }, { id, now: Date.now() });
          return { message, usage: reply.usage, finish: reply.finish };
        },
      );
    } catch (thrown) {
      const again = thrown instanceof TuttiError && thrown.code === "step_failed" && thrown.retry === "safe";
      if (!again || tries === maxTries) throw thrown;
      await durable.sleep(`pause:${talk.turn}.${tries}`, firstPauseMs * 2 ** (tries - 1));
    }
  }
}

/** What was said to the task from outside since the turn began. */
async function takeMail(durable: Durable, turn: number): Promise<CompleteMessage[]> {
  const taken: CompleteMessage[] = [];
  for (;;) {
    const message = await durable.receive(`mail:${turn}.${taken.length}`, { block: false });
    if (message === undefined) return taken;
    taken.push(durable.say(`heard:${turn}.${taken.length}`, message));
  }
}
