// The routing policy, and a playground: a handoff goes in, and the route and its reason come out.

import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";

import type { PolicyDecision } from "../../../../src/client/index.ts";
import { useConnection } from "../../api/connection.tsx";
import { useBoard } from "../../api/queries.ts";
import { attempt } from "../../api/toasts.tsx";
import { Card, Empty, Facts } from "../../ui/controls.tsx";
import { Words } from "../../ui/outside-text.tsx";
import { Pending } from "../problem-pages.tsx";
import { examples } from "./handoff-examples.ts";
import { PolicyText } from "./policy-in-force.tsx";

export function PolicyPage(): ReactNode {
  const { call } = useConnection();
  const [own, setOwn] = useState("");
  const [folder, setFolder] = useState("");
  const folders = useBoard().data?.folders ?? [];
  const read = useQuery({
    queryKey: ["policy", folder],
    queryFn: () => call("policy", { query: folder === "" ? {} : { folder } }),
  });
  return (
    <div className="page">
      <header className="page-head">
        <div className="row folding">
          <h1 className="grow">Policy</h1>
          <label className="row small soft">
            Project
            <select className="input" value={folder} onChange={(event) => setFolder(event.target.value)}>
              <option value="">the folder of the daemon</option>
              {folders.map((each) => (
                <option key={each} value={each}>
                  {each}
                </option>
              ))}
            </select>
          </label>
        </div>
        <p className="soft">
          The policy decides which model gets a task, when somebody reviews it, and when a person is asked.
        </p>
      </header>
      <div className="two">
        <Playground policy={own.trim() === "" ? (read.data?.text ?? undefined) : own} isOwn={own.trim() !== ""} />
        <div className="col loose">
          {read.data === undefined ? <Pending error={read.error} /> : <PolicyText policy={read.data} />}
          <Card title="Try another policy">
            <textarea
              className="input mono"
              rows={8}
              aria-label="Another policy, as TOON or JSON"
              placeholder="Paste a policy as TOON or JSON. The playground then uses it instead."
              value={own}
              onChange={(event) => setOwn(event.target.value)}
            />
          </Card>
        </div>
      </div>
    </div>
  );
}

/** Without a policy, the built-in one decides. */
function Playground({ policy, isOwn }: { readonly policy: string | undefined; readonly isOwn: boolean }): ReactNode {
  const { tutti } = useConnection();
  const [handoff, setHandoff] = useState(examples[0]?.text ?? "");
  const [decision, setDecision] = useState<PolicyDecision>();
  const recent = useRecentHandoffs();
  const ask = async (): Promise<void> => {
    const given = policy === undefined ? {} : { policy };
    setDecision(await attempt(() => tutti.route({ handoff, ...given })));
  };
  const options = [...examples, ...(recent.data ?? [])];
  return (
    <Card title="Playground">
      <form
        className="col"
        onSubmit={(event) => {
          event.preventDefault();
          void ask();
        }}
      >
        <label className="field">
          <span>Pick a handoff</span>
          <select
            className="input"
            onChange={(event) => setHandoff(options[Number(event.target.value)]?.text ?? "")}
            defaultValue="0"
          >
            {options.map(({ title }, index) => (
              <option key={index} value={index}>
                {title}
              </option>
            ))}
          </select>
        </label>
        <label className="field">
          <span>Handoff, as TOON or JSON</span>
          <textarea
            className="input mono"
            rows={12}
            value={handoff}
            onChange={(event) => setHandoff(event.target.value)}
          />
        </label>
        <div className="row">
          <span className="grow tiny soft">
            {isOwn
              ? "By the policy that you pasted."
              : policy === undefined
                ? "By the built-in policy."
                : "By the policy in force."}
          </span>
          <button type="submit" className="button primary" disabled={handoff.trim() === ""}>
            Which model gets it?
          </button>
        </div>
      </form>
      {decision === undefined ? (
        <Empty title="The route and its reason appear here" />
      ) : (
        <div className="col decision" role="status">
          <h3>
            Goes to <code>{decision.model}</code>
          </h3>
          <Facts
            rows={[
              ["Reason", <Words key="r" text={decision.reason} />],
              ["Matched by", decision.matched_by],
              [
                "Matched words",
                decision.words.length === 0 ? (
                  "none"
                ) : (
                  <span key="w" className="row folding">
                    {decision.words.map((word) => (
                      <span key={word} className="tag">
                        <Words text={word} />
                      </span>
                    ))}
                  </span>
                ),
              ],
              ["If it fails", decision.fallback_models?.join(", ") ?? "no other model is named"],
            ]}
          />
          {decision.warnings.map((warning) => (
            <p key={warning} className="small warn">
              <Words text={warning} />
            </p>
          ))}
        </div>
      )}
      {recent.error === null ? null : <Pending error={recent.error} />}
    </Card>
  );
}

/** Handoffs of tasks that ran, so that a real one can be tried. */
function useRecentHandoffs() {
  const { tutti } = useConnection();
  return useQuery({
    queryKey: ["recent-handoffs"],
    queryFn: async () => {
      const { seq } = await tutti.status();
      const events = await tutti.events({ after: Math.max(0, seq - 2_000), limit: 2_000 });
      return events
        .flatMap((event) => (event.type === "route.decided" ? [event.data.handoff] : []))
        .slice(-20)
        .toReversed()
        .map((handoff) => ({
          title: `Recent: ${handoff.objective ?? handoff.task_id ?? "without an objective"}`.slice(0, 90),
          text: JSON.stringify(handoff, null, 2),
        }));
    },
  });
}
