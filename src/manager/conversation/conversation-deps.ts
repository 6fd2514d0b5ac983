// What a conversation is given by the daemon: its model, and a function for every verb of the catalogue.

import type { VerbArgs, VerbName } from "../../core/verb-catalogue.ts";
import type { Model } from "../../model-port.ts";
import type { ConversationFile } from "../../protocol/conversation/conversation-view.ts";
import type { ProgramCaller } from "../../protocol/invocation/by-program.ts";
import type { Answerer } from "../../protocol/task/ask.ts";

export interface VerbContext {
  /** Who wrote the message of this turn. */
  readonly person: Answerer;
  /** The folder of the conversation, in which its goals work. */
  readonly folder: string | undefined;
  /** The program whose conversation this is, so that its goals are that program's; undefined for a person's. */
  readonly program?: ProgramCaller | undefined;
  /** An idempotency key: different for any other call. */
  readonly key: string;
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

/** What a conversation can do with goals. Ids of goals begin with `gol_`. */
export interface GoalControl {
  /** The newest first. The text is the person's own; nothing in it is written by a session. */
  list(): Promise<
    readonly {
      readonly id: string;
      readonly text: string;
      readonly status: string;
      /** When it was started. */
      readonly at: number;
    }[]
  >;
  get(goal: string): Promise<unknown>;
  start(wanted: {
    readonly text: string;
    readonly accept: readonly string[];
    readonly folder: string;
    readonly program?: ProgramCaller;
    /** The same key gives the same goal. */
    readonly key: string;
  }): Promise<unknown>;
  /** `program`: whose words they are, when they are no person's. */
  message(goal: string, text: string, program: ProgramCaller | undefined): Promise<void>;
  /** As Markdown. */
  report(goal: string): Promise<string>;
}

export interface ConversationDeps {
  readonly model: (file: ConversationFile) => Model;
  /** The model of conversations that name none. */
  readonly defaultModel: string;
  readonly verbs: () => Promise<VerbHandlers>;
  readonly preview: (verb: VerbName, args: Readonly<Record<string, unknown>>) => Promise<VerbPreview>;
  /** Earlier goals that a message may be about. They hold nothing that a session wrote. */
  readonly recallGoals: (words: string) => Promise<readonly RecalledGoal[]>;
}
