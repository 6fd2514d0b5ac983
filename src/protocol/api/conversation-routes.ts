// The routes of conversations with the manager.

import { ConversationView } from "../conversation/conversation-view.ts";
import * as shapes from "./conversation-shapes.ts";
import { jsonBody, jsonReply, route } from "./route-shape.ts";

export const conversationRoutes = {
  startConversation: route({
    method: "POST",
    path: "/v1/conversations",
    tag: "conversations",
    about: "Start a conversation with the manager; its id is that of its task",
    access: "operator",
    body: { ...jsonBody(shapes.NewConversation), optional: true },
    reply: { type: "json", status: 201, schema: shapes.StartedConversation },
  }),
  converse: route({
    method: "POST",
    path: "/v1/conversations/{conversation}/messages",
    tag: "conversations",
    about: "Say something to the manager; the events of the task tell the answer, and what it does on the way",
    access: "operator",
    params: shapes.ConversationParams,
    body: jsonBody(shapes.SayToManager),
    reply: { type: "json", status: 202, schema: shapes.Said },
    refuses: [404, 409],
  }),
  conversation: route({
    method: "GET",
    path: "/v1/conversations/{conversation}",
    tag: "conversations",
    about: "A conversation with its latest turns",
    access: "viewer",
    params: shapes.ConversationParams,
    reply: jsonReply(ConversationView),
    refuses: [404],
  }),
};
