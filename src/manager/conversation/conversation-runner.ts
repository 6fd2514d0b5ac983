// The runner `conversation`: the task of one conversation, which answers the messages it is sent one after another.

import { z } from "zod";

import { rehearsalModelName } from "../../core/rehearsal-name.ts";
import { emptyContext } from "../../core/rolling-context.ts";
import { foldConversation } from "../../core/fold-conversation.ts";
import type { Durable, Runner } from "../../ports.ts";
import { ConversationFile } from "../../protocol/conversation/conversation-view.ts";
import { requestLength } from "./ask-model.ts";
import { compactRounds } from "./compact-rounds.ts";
import type { ConversationDeps } from "./conversation-deps.ts";
import { type ConversationRun, ConversationState } from "./conversation-run.ts";
import { answerMessage, runTurn } from "./conversation-turn.ts";

/** After this time without a message the conversation ends. */
const idleMs = 30 * 24 * 60 * 60 * 1000;

/** What the task is run with, beside the project. It is not in the input because inputs are redacted. */
const Config = z.object({ folder: z.string().optional() });

/** Turns of one conversation never overlap, because its task takes the next message only when a turn has ended. */
export function conversationRunner(deps: ConversationDeps): Runner {
  return async (durable, config) => {
    const { folder } = Config.parse(config);
    const file = ConversationFile.parse(durable.input);
    const modelName = file.model ?? (file.script === undefined ? deps.defaultModel : rehearsalModelName);
    const kept = (await durable.restore(ConversationState))?.state ?? durable.stoppedState(ConversationState);
    let state: ConversationState = kept ?? { turn: 1, context: emptyContext };
    if (durable.resumed) state = await closeStoppedTurn(durable, state);
    const model = deps.model(file);
    const summaryModel = file.summary_model ?? modelName;
    for (;;) {
      const next = await durable.select(`turn${state.turn}.next`, [{ message: true }, { after: idleMs }]);
      if (next.kind !== "message") return { kind: "conversation", turns: state.turn - 1 };
      const run: ConversationRun = { ...state, durable, deps, model, modelName, summaryModel, folder };
      const { round, turn } = await runTurn(run, next.value);
      const context = { ...state.context, rounds: [...state.context.rounds, round] };
      // What was answered is kept before anything else can fail.
      durable.save(`turn${state.turn}.answered`, { turn: state.turn + 1, context });
      const compacted = await compactRounds({ ...run, context }, requestLength(turn));
      state = { turn: state.turn + 1, context: compacted };
      if (compacted !== context) durable.save(`turn${state.turn}.begin`, state);
    }
  };
}

/** A turn that was stopped is not taken up again, because its verbs may have been carried out. It ends with these words. */
async function closeStoppedTurn(durable: Durable, { turn, context }: ConversationState): Promise<ConversationState> {
  const last = foldConversation(await durable.messages()).at(-1);
  if (last === undefined || last.reply !== null) return { turn, context };
  const reply = "This message was not answered, because the conversation was stopped.";
  const spent = { calls: 0, tokens: 0, money_micro_usd: null, actions: [], dropped: [], failed: true };
  durable.say("stopped.answer", answerMessage(reply, { kind: "turn", answers: last.message, ...spent }));
  // What was read in it is not known any more, so it counts as a session's output.
  const round = { user: last.user, reply, verbs: [], held: true };
  return { turn: turn + 1, context: { ...context, rounds: [...context.rounds, round] } };
}
