// Why the task went to whom it went: the routing decision, the handoffs and the reviews, as they were recorded.

import { type ReactNode, useMemo } from "react";

import type { TaskEvent } from "../../../../src/client/index.ts";
import { argvLine, Review } from "../../../../src/protocol/index.ts";
import { workerName } from "../../live/fold-tasks.ts";
import { Card, Empty, Facts, TimeAgo } from "../../ui/controls.tsx";
import { OutputBlock, Words } from "../../ui/outside-text.tsx";
import { StateMark } from "../../ui/state-mark.tsx";
import { ReviewEnvelope, SentReview } from "../review-envelope.tsx";

type Of<T extends TaskEvent["type"]> = Extract<TaskEvent, { type: T }>;

export function RoutingView({ events }: { readonly events: readonly TaskEvent[] }): ReactNode {
  const { routes, moves, evidence, sent } = useMemo(() => {
    return {
      routes: events.filter((event): event is Of<"route.decided"> => event.type === "route.decided"),
      moves: events.filter((event): event is Of<"handoff.moved"> => event.type === "handoff.moved"),
      evidence: events.filter((event): event is Of<"evidence.added"> => event.type === "evidence.added"),
      sent: events.flatMap((event) => (event.type === "task.completed" ? reviewIn(event.data.content) : [])).at(0),
    };
  }, [events]);
  if (routes.length + moves.length + evidence.length === 0 && sent === undefined) {
    return (
      <Empty title="This task was not routed">
        Only tasks of a goal are routed by the policy, handed on and reviewed.
      </Empty>
    );
  }
  return (
    <div className="col loose">
      {sent === undefined ? null : (
        <Card title="Review envelope">
          <SentReview review={sent} />
        </Card>
      )}
      {routes.map(({ seq, at, data }) => (
        <Card
          key={seq}
          title={`Routed to ${workerName(data)}`}
          end={
            <span className="tiny faint">
              <TimeAgo at={at} />
            </span>
          }
        >
          <div className="col">
            <Facts
              rows={[
                ["Reason", <Words key="r" text={data.reason} />],
                ["Decided by", data.chosen_by],
                ["Matched by", data.matched_by],
                [
                  "Matched words",
                  data.words.length === 0 ? (
                    "none"
                  ) : (
                    <span key="w" className="row folding">
                      {data.words.map((word) => (
                        <span key={word} className="tag">
                          <Words text={word} />
                        </span>
                      ))}
                    </span>
                  ),
                ],
              ]}
            />
            <span className="label">Handoff envelope</span>
            <OutputBlock text={JSON.stringify(data.handoff, null, 2)} lines={30} label="Handoff envelope" />
          </div>
        </Card>
      ))}
      {moves.length === 0 ? null : (
        <Card title="Handoff" flush>
          {moves.map(({ seq, at, data }) => (
            <div key={seq} className="item small">
              <span className="tag">{data.from}</span>
              <span aria-hidden="true">→</span>
              <span className="tag">{data.to}</span>
              <span className="grow soft">
                {data.decision}: <Words text={data.reason} />
              </span>
              <span className="tiny faint">
                <TimeAgo at={at} />
              </span>
            </div>
          ))}
        </Card>
      )}
      {evidence.map(({ seq, data: { evidence: each } }) => (
        <Card
          key={seq}
          id={each.id}
          title={
            each.fact.kind === "check"
              ? `Check: ${argvLine(each.fact.argv)}`
              : each.fact.kind === "review"
                ? "Review envelope"
                : `Fact: ${each.fact.kind}`
          }
          end={<StateMark state={each.verdict} />}
        >
          <div className="col">
            {each.fact.kind === "review" ? (
              <ReviewEnvelope fact={each.fact} />
            ) : each.fact.kind === "check" ? (
              <>
                <p className="small soft">
                  <Words text={each.fact.reason} />
                </p>
                <OutputBlock text={each.fact.output_tail} lines={30} label="Output of the check" />
              </>
            ) : (
              <OutputBlock text={each.excerpt || JSON.stringify(each.fact, null, 2)} lines={12} />
            )}
          </div>
        </Card>
      ))}
    </div>
  );
}

/** What a reviewer ended with, when it is a review; it came from a model, so its shape is looked at. */
function reviewIn(content: unknown): readonly Review[] {
  const read = Review.safeParse(content);
  return read.success ? [read.data] : [];
}
