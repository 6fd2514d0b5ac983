// A thread with an agent: its messages, oldest first, and a box to say more.

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useEffect, useRef } from "react";

import type { ThreadPage as Threads } from "../../../../src/client/index.ts";
import { useConnection } from "../../api/connection.tsx";
import { useAsks } from "../../api/queries.ts";
import { attempt } from "../../api/toasts.tsx";
import { AskCard } from "../../ui/ask-card.tsx";
import { Card, TimeAgo } from "../../ui/controls.tsx";
import { MessageBox } from "../../ui/message-box.tsx";
import { Said, Words } from "../../ui/outside-text.tsx";
import { StateMark } from "../../ui/state-mark.tsx";
import { Pending } from "../problem-pages.tsx";
import { saidText } from "./said-text.ts";
import { sayingTo } from "./say-to-agent.ts";

const mostPages = 50;

export function AgentThread({ thread }: { readonly thread: Threads["threads"][number] }): ReactNode {
  const { call, tutti } = useConnection();
  const { last } = thread;
  const open = last?.status === "running" || last?.status === "pending" || last?.status === "input_required";
  const messages = useQuery({
    queryKey: ["thread-messages", thread.id, thread.said_at, last?.status],
    placeholderData: (before) => before,
    queryFn: async () => {
      const all = [];
      let cursor: string | null | undefined;
      for (let page = 0; page < mostPages && cursor !== null; page += 1) {
        const query = { limit: 500, ...(cursor === undefined ? {} : { cursor }) };
        const read = await call("threadMessages", { params: { thread: thread.id }, query });
        all.push(...read.messages);
        cursor = read.next;
      }
      return all;
    },
  });
  const tree = useQuery({
    queryKey: ["thread-agent", last?.task],
    enabled: last !== null,
    queryFn: () => tutti.tree(last?.task ?? ""),
  });
  const agent = tree.data?.find(({ runner }) => runner !== "invocation")?.agent;
  const asks = useAsks().data?.filter(({ root }) => root === last?.task) ?? [];
  const end = useRef<HTMLDivElement>(null);
  const shown = messages.data?.length ?? 0;
  useEffect(() => {
    // In some browsers it gives a promise back, which is no clean-up.
    end.current?.scrollIntoView({ block: "nearest" });
  }, [shown]);
  if (messages.data === undefined) return <Pending error={messages.error} />;
  return (
    <Card
      title={<Words text={thread.name ?? thread.about} />}
      end={last === null ? null : <StateMark state={last.status} />}
    >
      <div className="col loose">
        <div className="bubbles" role="log" aria-label="Thread">
          {messages.data.map(({ task, message }, index) => {
            const text = saidText(message);
            return text === "" ? null : (
              <div key={index} className={`bubble ${message.role === "user" ? "mine" : ""}`}>
                <Said text={text} />
                <div className="tiny soft">
                  <Link to="/tasks/$task" params={{ task }}>
                    <TimeAgo at={message.created_at} />
                  </Link>
                </div>
              </div>
            );
          })}
          <div ref={end} />
        </div>
        {asks.map((ask) => (
          <AskCard key={ask.id} ask={ask} />
        ))}
        <MessageBox
          label="Message to the agent"
          placeholder={
            open ? "The agent is at work; it can be told more when it is done." : "Say something to the agent"
          }
          button="Send"
          disabled={open || agent === undefined}
          onSend={async (text) => {
            const file = sayingTo({ thread: thread.id, agent: agent ?? "", text });
            const folder = thread.project ?? undefined;
            return (await attempt(() => tutti.invoke(JSON.stringify(file), { folder, anew: true }))) !== undefined;
          }}
        />
      </div>
    </Card>
  );
}
