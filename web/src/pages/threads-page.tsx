// Talking with the manager: conversations on the left, the chosen one with its answers on the right.

import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { type ReactNode, useEffect, useRef } from "react";

import type { ConversationView, TaskId } from "../../../src/client/index.ts";
import { useConnection } from "../api/connection.tsx";
import { useAsks, useTranscript } from "../api/queries.ts";
import { attempt } from "../api/toasts.tsx";
import { money } from "../format/show-time.ts";
import { AskCard } from "../ui/ask-card.tsx";
import { Card, Empty, TimeAgo } from "../ui/controls.tsx";
import { MessageBox } from "../ui/message-box.tsx";
import { Prose, Words } from "../ui/outside-text.tsx";
import { StateMark } from "../ui/state-mark.tsx";
import { Pending } from "./problem-pages.tsx";

const person = { kind: "person", name: "dashboard" } as const;

export function ThreadsPage(): ReactNode {
  const { thread } = useParams({ strict: false });
  const { tutti } = useConnection();
  const navigate = useNavigate();
  const list = useQuery({
    queryKey: ["threads"],
    queryFn: () => tutti.tasks({ runner: "conversation", limit: 50 }),
    refetchInterval: 10_000,
  });
  const begin = async (text: string): Promise<boolean> => {
    const made = await attempt(async () => {
      const conversation = await tutti.startConversation();
      await tutti.converse(conversation, text, person);
      return conversation;
    });
    if (made !== undefined) await navigate({ to: "/threads/$thread", params: { thread: made } });
    return made !== undefined;
  };
  return (
    <div className="page">
      <header className="page-head">
        <h1>Threads</h1>
        <p className="soft">
          Talk with the manager about goals and tasks. It asks you before it changes anything that matters.
        </p>
      </header>
      <div className="chat">
        <Card title="Conversations" flush>
          <nav className="chat-list" aria-label="Conversations">
            {list.data === undefined ? (
              <Pending error={list.error} />
            ) : list.data.tasks.length === 0 ? (
              <Empty title="None yet" command="tutti chat" />
            ) : (
              list.data.tasks.map((task) => (
                <Link
                  key={task.id}
                  to="/threads/$thread"
                  params={{ thread: task.id }}
                  className="item"
                  {...(task.id === thread ? { "aria-current": "page" as const } : {})}
                >
                  <StateMark state={task.status} bare />
                  <span className="col tightest grow">
                    <span className="clip">
                      <Words text={task.asked.prompt === "" ? "Conversation" : task.asked.prompt} />
                    </span>
                    <span className="tiny faint">
                      <TimeAgo at={task.created_at} />
                    </span>
                  </span>
                </Link>
              ))
            )}
          </nav>
        </Card>
        {thread === undefined ? (
          <Card title="New conversation">
            <MessageBox
              label="Message to the manager"
              placeholder="What is running? Which goals need me? Start a goal that …"
              button="Begin"
              onSend={begin}
            />
          </Card>
        ) : (
          <Conversation key={thread} conversation={thread} />
        )}
      </div>
    </div>
  );
}

function Conversation({ conversation }: { readonly conversation: TaskId }): ReactNode {
  const { tutti } = useConnection();
  // Every event of the conversation's task changes its transcript, and with it what is read here.
  const version = useTranscript(conversation).data?.version ?? 0;
  const view = useQuery({
    queryKey: ["conversation", conversation, version],
    queryFn: () => tutti.conversation(conversation),
    placeholderData: (before) => before,
  });
  const asks = useAsks().data?.filter(({ task }) => task === conversation) ?? [];
  const end = useRef<HTMLDivElement>(null);
  useEffect(() => end.current?.scrollIntoView({ block: "nearest" }), [version]);
  if (view.data === undefined) return <Pending error={view.error} />;
  return (
    <Card title="The manager" end={<span className="tiny faint num">{money(view.data.money_micro_usd)}</span>}>
      <div className="col loose">
        <div className="bubbles" role="log" aria-label="Conversation">
          {view.data.turns.map((turn) => (
            <Turn key={turn.message} turn={turn} />
          ))}
          <div ref={end} />
        </div>
        {asks.map((ask) => (
          <AskCard key={ask.id} ask={ask} />
        ))}
        <MessageBox
          label="Message to the manager"
          placeholder="Say something to the manager"
          button="Send"
          disabled={
            view.data.status === "completed" || view.data.status === "failed" || view.data.status === "canceled"
          }
          onSend={async (text) => (await attempt(() => tutti.converse(conversation, text, person))) !== undefined}
        />
      </div>
    </Card>
  );
}

function Turn({ turn }: { readonly turn: ConversationView["turns"][number] }): ReactNode {
  return (
    <>
      <div className="bubble mine">
        <Prose text={turn.user} />
        <div className="tiny soft">
          <TimeAgo at={turn.at} />
        </div>
      </div>
      <div className="bubble">
        {turn.reply === null ? <span className="soft">…</span> : <Prose text={turn.reply} />}
        {turn.outcome === null || turn.outcome.actions.length === 0 ? null : (
          <div className="row folding tiny">
            {turn.outcome.actions.map((action, index) => (
              <span key={index} className="tag">
                {action.verb} {action.target ?? ""} · {action.outcome}
              </span>
            ))}
          </div>
        )}
      </div>
    </>
  );
}
