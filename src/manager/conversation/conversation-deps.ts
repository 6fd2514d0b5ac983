// What a conversation is given by the daemon: its model, and a function for every verb of the catalogue.

import type { VerbArgs, VerbName } from "../../core/verb-catalogue.ts";
import type { Model } from "../../model-port.ts";
import type { ConversationFile } from "../../protocol/conversation/conversation.ts";
import type { Answerer } from "../../protocol/task/ask.ts";

export interface VerbContext {
  /** Who wrote the message of this turn. */
  readonly person: Answerer;
  /** What the preview of an approved call has marked. */
  readonly mark?: string | undefined;
}

/** Exactly what a call would do, for the person who decides about it. */
export interface VerbPreview {
  readonly lines: readonly string[];
  /** The state that was shown, such as a commit. The call is refused when that has changed. */
  readonly mark?: string | undefined;
}

/** One function for each verb. What it returns is shown to the model as JSON. */
export type VerbHandlers = {
  readonly [N in VerbName]: (args: VerbArgs<N>, context: VerbContext) => Promise<unknown>;
};

export interface RecalledGoal {
  readonly id: string;
  /** The person's own words. */
  readonly text: string;
  readonly status: string;
}

export interface ConversationDeps {
  readonly model: (file: ConversationFile) => Model;
  /** The model of conversations that name none. */
  readonly defaultModel: string;
  readonly verbs: () => VerbHandlers;
  readonly preview: (verb: VerbName, args: Readonly<Record<string, unknown>>) => Promise<VerbPreview>;
  /** Earlier goals that a message may be about. They hold nothing that a session wrote. */
  readonly recallGoals: (words: string) => Promise<readonly RecalledGoal[]>;
}
