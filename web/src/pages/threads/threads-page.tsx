// Threads: talking with the manager or with an agent. The threads are on the left, the chosen one with its answers on the right.

import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import type { ReactNode } from "react";

import type { ThreadPage as Threads } from "../../../../src/client/index.ts";
import { useConnection } from "../../api/connection.tsx";
import { Card, Empty, TimeAgo } from "../../ui/controls.tsx";
import { Words } from "../../ui/outside-text.tsx";
import { StateMark } from "../../ui/state-mark.tsx";
import { Pending } from "../problem-pages.tsx";
import { AgentThread } from "./agent-thread.tsx";
import { Conversation } from "./conversation.tsx";
import { NewThread } from "./new-thread.tsx";

interface Shown {
  readonly id: string;
  readonly title: string;
  readonly kind: "agent" | "manager";
  readonly at: number;
  readonly state: string;
}

export function ThreadsPage(): ReactNode {
  const { thread } = useParams({ strict: false });
  const list = useThreads();
  return (
    <div className="page">
      <header className="row spread folding">
        <div className="col tightest">
          <h1>Threads</h1>
          <p className="soft">Talk with the manager about goals and tasks, or with an agent.</p>
        </div>
        {thread === undefined ? null : (
          <Link to="/threads" className="button">
            New thread
          </Link>
        )}
      </header>
      <div className="chat">
        <Card title="All threads" flush>
          <nav className="chat-list" aria-label="Threads">
            {list.data === undefined ? (
              <Pending error={list.error} />
            ) : list.data.length === 0 ? (
              <Empty title="None yet" command="tutti chat" />
            ) : (
              list.data.map(({ id, title, kind, at, state }) => (
                <Link
                  key={id}
                  to="/threads/$thread"
                  params={{ thread: id }}
                  className="item"
                  {...(id === thread ? { "aria-current": "page" as const } : {})}
                >
                  <StateMark state={state} bare />
                  <span className="col tightest grow">
                    <span className="clip">
                      <Words text={title} />
                    </span>
                    <span className="tiny faint">
                      {kind} · <TimeAgo at={at} />
                    </span>
                  </span>
                </Link>
              ))
            )}
          </nav>
        </Card>
        {thread === undefined ? (
          <NewThread />
        ) : thread.startsWith("thr_") ? (
          <ThreadById key={thread} thread={thread} />
        ) : (
          <Conversation key={thread} conversation={thread} />
        )}
      </div>
    </div>
  );
}

/** Threads, and conversations with the manager that are not in one. */
function useThreads() {
  const { tutti, call } = useConnection();
  return useQuery({
    queryKey: ["threads"],
    refetchInterval: 10_000,
    queryFn: async (): Promise<readonly Shown[]> => {
      const [{ threads }, { tasks }] = await Promise.all([
        call("threads", { query: {} }),
        tutti.tasks({ runner: "conversation", limit: 50 }),
      ]);
      const known = new Set(threads.map(({ last }) => last?.task));
      const alone = tasks.filter(({ id }) => !known.has(id));
      return [
        ...threads.map(shownThread),
        ...alone.map(({ id, asked, created_at, status }): Shown => ({
          id,
          title: asked.prompt === "" ? "Conversation with the manager" : asked.prompt,
          kind: "manager",
          at: created_at,
          state: conversationState(status),
        })),
      ].toSorted((a, b) => b.at - a.at);
    },
  });
}

function shownThread({ id, name, about, kind, said_at, last }: Threads["threads"][number]): Shown {
  const status = last?.status ?? "idle";
  const state = kind === "manager" ? conversationState(status) : status;
  return { id, title: name ?? about, kind, at: said_at, state };
}

/** A conversation with the manager is a task that runs also while nothing is said. */
function conversationState(status: string): string {
  return status === "running" ? "conversing" : status;
}

/** A thread of the manager is one task that goes on. */
function ThreadById({ thread }: { readonly thread: string }): ReactNode {
  const { call } = useConnection();
  const view = useQuery({
    queryKey: ["thread", thread],
    queryFn: () => call("thread", { params: { thread } }),
    refetchInterval: 2_000,
  });
  if (view.data === undefined) return <Pending error={view.error} />;
  if (view.data.kind === "manager" && view.data.last !== null)
    return <Conversation conversation={view.data.last.task} />;
  return <AgentThread thread={view.data} />;
}
