// The runner `conversation`: the task of one conversation, which answers the messages it is sent one after another.

import { rehearsalModelName } from "../../core/rehearsal-name.ts";
import { emptyContext } from "../../core/rolling-context.ts";
import type { Runner } from "../../ports.ts";
import { ConversationFile } from "../../protocol/conversation/conversation.ts";
import { requestLength } from "./ask-model.ts";
import { compactRounds } from "./compact-rounds.ts";
import type { ConversationDeps } from "./conversation-deps.ts";
import { type ConversationRun, ConversationState } from "./conversation-run.ts";
import { runTurn } from "./conversation-turn.ts";

/** After this time without a message the conversation ends. */
const idleMs = 30 * 24 * 60 * 60 * 1000;

/** Turns of one conversation never overlap, because its task takes the next message only when a turn has ended. */
export function conversationRunner(deps: ConversationDeps): Runner {
  return async (durable) => {
    const file = ConversationFile.parse(durable.input);
    const modelName = file.model ?? (file.script === undefined ? deps.defaultModel : rehearsalModelName);
    const kept = (await durable.restore(ConversationState))?.state ?? durable.stoppedState(ConversationState);
    let state: ConversationState = kept ?? { turn: 1, context: emptyContext };
    const model = deps.model(file);
    const summaryModel = file.summary_model ?? modelName;
    for (;;) {
      const next = await durable.select(`turn${state.turn}.next`, [{ message: true }, { after: idleMs }]);
      if (next.kind !== "message") return { kind: "conversation", turns: state.turn - 1 };
      const run: ConversationRun = { ...state, durable, deps, model, modelName, summaryModel };
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
