// Starts conversations with the manager, takes messages for them, and shows them.

import type { HttpContext } from "../context.ts";
import type { Handlers } from "../handler.ts";
import { mayChooseFolder } from "../chosen-folder.ts";
import { startWhereFolderIs } from "../here-or-elsewhere.ts";
import { answererOf } from "./answerer.ts";
import { asProgram } from "./of-caller.ts";

type ConversationRoute = "startConversation" | "converse" | "conversation";

export function conversationHandlers({ state }: HttpContext): Pick<Handlers, ConversationRoute> {
  const { client } = state;
  return {
    async startConversation(request) {
      const { body, caller } = request;
      mayChooseFolder(body.folder, caller);
      const conversation = await startWhereFolderIs(state, request, (tutti) =>
        tutti.startConversation(body, asProgram(caller)),
      );
      return { value: { conversation } };
    },
    async converse({ params, body, caller }) {
      return { value: { message: await client.converse(params.conversation, body.text, answererOf(caller)) } };
    },
    conversation: async ({ params }) => ({ value: await client.conversation(params.conversation) }),
  };
}
