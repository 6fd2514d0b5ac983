// Starts conversations with the manager, takes messages for them, and shows them.

import type { HttpContext } from "../context.ts";
import type { Handlers } from "../handler.ts";
import { mayChooseFolder } from "../chosen-folder.ts";
import { answererOf } from "./answerer.ts";

type ConversationRoute = "startConversation" | "converse" | "conversation";

export function conversationHandlers({ state: { client } }: HttpContext): Pick<Handlers, ConversationRoute> {
  return {
    async startConversation({ body, caller }) {
      mayChooseFolder(body.folder, caller);
      return { value: { conversation: await client.startConversation(body) } };
    },
    async converse({ params, body, caller }) {
      return { value: { message: await client.converse(params.conversation, body.text, answererOf(caller)) } };
    },
    conversation: async ({ params }) => ({ value: await client.conversation(params.conversation) }),
  };
}
