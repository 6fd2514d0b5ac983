// One fact that Tutti observed, whole: the command, its outcome and the exact output.

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

import type { TaskId } from "../../../../src/client/index.ts";
import { useConnection } from "../../api/connection.tsx";
import { duration } from "../../format/show-time.ts";
import { Dialog, Facts, TimeAgo } from "../../ui/controls.tsx";
import { OutputBlock, Words } from "../../ui/outside-text.tsx";
import { StateMark } from "../../ui/state-mark.tsx";
import { Pending } from "../problem-pages.tsx";
import { findEvidence } from "./find-evidence.ts";

export function EvidenceDialog({
  evidence: id,
  root,
  onClose,
}: {
  readonly evidence: string;
  readonly root: TaskId;
  readonly onClose: () => void;
}): ReactNode {
  const { tutti } = useConnection();
  const read = useQuery({ queryKey: ["evidence", id, root], queryFn: () => findEvidence(tutti, root, id) });
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
                <Words text={found.fact.argv.join(" ")} />
              </code>
              <p className="small">
                <Words text={found.fact.reason} />
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
            <Facts
              rows={[
                ["Verdict", found.fact.gate],
                [
                  "Reviewer",
                  <Link key="r" to="/tasks/$task" params={{ task: found.fact.reviewer }}>
                    {found.fact.reviewer}
                  </Link>,
                ],
                ["Model", `${found.fact.model}${found.fact.same_model ? ", the same as the author's" : ""}`],
                ["Confidence", found.fact.conf],
                ["Findings", found.fact.findings.join("\n")],
              ]}
            />
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
