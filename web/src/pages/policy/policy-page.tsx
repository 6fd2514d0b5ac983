// The routing policy, and a playground: a handoff goes in, and the route and its reason come out.

import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";

import type { PolicyDecision } from "../../../../src/client/index.ts";
import { defaultPolicy, encodePolicy } from "../../../../src/protocol/index.ts";
import { useConnection } from "../../api/connection.tsx";
import { attempt } from "../../api/toasts.tsx";
import { Card, Empty, Facts } from "../../ui/controls.tsx";
import { OutputBlock, Words } from "../../ui/outside-text.tsx";
import { Pending } from "../problem-pages.tsx";
import { examples } from "./handoff-examples.ts";

export function PolicyPage(): ReactNode {
  const [own, setOwn] = useState("");
  return (
    <div className="page">
      <header className="page-head">
        <h1>Policy</h1>
        <p className="soft">
          The policy decides which model gets a task, when somebody reviews it, and when a person is asked.
        </p>
      </header>
      <div className="two">
        <Playground policy={own} />
        <div className="col loose">
          <Card title="Built-in policy">
            <OutputBlock text={builtIn} lines={200} label="Policy" />
          </Card>
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

const builtIn = encodePolicy(defaultPolicy);

function Playground({ policy }: { readonly policy: string }): ReactNode {
  const { tutti } = useConnection();
  const [handoff, setHandoff] = useState(examples[0]?.text ?? "");
  const [decision, setDecision] = useState<PolicyDecision>();
  const recent = useRecentHandoffs();
  const ask = async (): Promise<void> => {
    const given = policy.trim() === "" ? {} : { policy };
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
          <span className="grow" />
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
