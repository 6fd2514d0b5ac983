// One fact that Tutti observed, whole: the command, its outcome and the exact output.

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

import { TuttiError } from "../../../../src/client/index.ts";
import { argvLine } from "../../../../src/protocol/index.ts";
import { useConnection } from "../../api/connection.tsx";
import { duration } from "../../format/show-time.ts";
import { Dialog, Facts, TimeAgo } from "../../ui/controls.tsx";
import { OutputBlock, Sentence, VisiblePieces } from "../../ui/outside-text.tsx";
import { StateMark } from "../../ui/state-mark.tsx";
import { Pending } from "../problem-pages.tsx";
import { ReviewEnvelope } from "../review-envelope.tsx";

export function EvidenceDialog({
  evidence: id,
  onClose,
}: {
  readonly evidence: string;
  readonly onClose: () => void;
}): ReactNode {
  const { call } = useConnection();
  const read = useQuery({
    queryKey: ["evidence", id],
    queryFn: () => call("evidence", { params: { evidence: id } }),
    staleTime: Infinity,
    // The index that knows evidence follows the events within a second.
    retry: (failures, error) => failures < 3 && error instanceof TuttiError && error.code === "not_found",
  });
  const found = read.data;
  return (
    <Dialog title="Evidence" onClose={onClose}>
      {found === undefined ? (
        <Pending error={read.error} />
      ) : (
        <>
          <div className="row folding">
            <StateMark state={found.verdict} />
            <span className="tag">{found.fact.kind}</span>
            <span className="grow" />
            <span className="tiny faint">
              observed <TimeAgo at={found.observed_at} />
            </span>
          </div>
          {found.fact.kind === "check" ? (
            <>
              <code className="command">
                <VisiblePieces text={argvLine(found.fact.argv)} />
              </code>
              <p className="small">
                <Sentence text={found.fact.reason} />
              </p>
              <Facts
                rows={[
                  ["Outcome", found.fact.outcome.replaceAll("_", " ")],
                  ["On the base", found.fact.on_base ?? "not run"],
                  ["Took", duration(found.fact.duration_ms)],
                  ["Named by", found.fact.named_by],
                ]}
              />
              <OutputBlock text={found.fact.output_tail || found.excerpt} label="Output of the check" />
            </>
          ) : found.fact.kind === "review" ? (
            <ReviewEnvelope fact={found.fact} />
          ) : (
            <OutputBlock text={found.excerpt || JSON.stringify(found.fact, null, 2)} />
          )}
          <Facts
            rows={[
              [
                "Task",
                <Link key="t" to="/tasks/$task" params={{ task: found.task }}>
                  {found.task}
                </Link>,
              ],
              ["Attempt", found.attempt],
              ["Commit", <code key="c">{found.commit ?? "none"}</code>],
            ]}
          />
        </>
      )}
    </Dialog>
  );
}
