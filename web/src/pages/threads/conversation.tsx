// A conversation with the manager: what was said, what it did, and what it asks before it does it.

import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useEffect, useRef } from "react";

import type { ConversationView, TaskId } from "../../../../src/client/index.ts";
import { useConnection } from "../../api/connection.tsx";
import { useAsks } from "../../api/queries.ts";
import { useTranscript } from "../../api/task-queries.ts";
import { attempt } from "../../api/toasts.tsx";
import { money } from "../../format/show-time.ts";
import { AskCard } from "../../ui/ask-card.tsx";
import { Card, TimeAgo } from "../../ui/controls.tsx";
import { MessageBox } from "../../ui/message-box.tsx";
import { Prose, Said } from "../../ui/outside-text.tsx";
import { Pending } from "../problem-pages.tsx";

const person = { kind: "person", name: "dashboard" } as const;
const over = new Set<string>(["completed", "failed", "canceled"]);

export function Conversation({ conversation }: { readonly conversation: TaskId }): ReactNode {
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
  useEffect(() => {
    // In some browsers it gives a promise back, which is no clean-up.
    end.current?.scrollIntoView({ block: "nearest" });
  }, [version]);
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
          disabled={over.has(view.data.status)}
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
        {turn.reply === null ? <span className="soft">…</span> : <Said text={turn.reply} />}
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
