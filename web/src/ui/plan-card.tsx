// A plan that waits for a yes: each task with who would do it, after what and checked by what, and what it may cost at most.

import { type ReactNode, useState } from "react";
import { z } from "zod";

import { argvLine, argvNotes } from "../../../src/protocol/index.ts";
import type { AskedPlan } from "../api/ask-details.ts";
import { count, money, plural } from "../format/show-time.ts";
import { workerName } from "../live/fold-tasks.ts";
import { OutputBlock, Prose, VisiblePieces, Words } from "./outside-text.tsx";

/** `text`: the whole question, as other fronts show it. */
export function PlanCard({ plan, text }: { readonly plan: AskedPlan; readonly text: string }): ReactNode {
  const [asText, setAsText] = useState(false);
  const { tasks, criteria, dropped, limits } = plan;
  const proposed = criteria.filter(({ confirmed }) => !confirmed);
  return (
    <div className="col">
      <p className="ask-words">
        Should this plan be carried out? {plural(tasks.length, "task")}, at most {money(limits.money_micro_usd)} and{" "}
        {count(limits.tokens)} tokens for all of it.
      </p>
      <ol className="plan">
        {tasks.map(({ planned, route }) => (
          <li key={planned.id}>
            <code className="plan-id">
              <Words text={planned.id} />
            </code>
            <div className="col tightest grow">
              <Prose text={planned.prompt} lines={12} />
              <span className="tiny soft">
                <Words text={workerName(route)} />: <Words text={route.reason} />
                {planned.after.length === 0 ? null : (
                  <>
                    {" "}
                    · after <Words text={planned.after.join(", ")} />
                  </>
                )}{" "}
                · in{" "}
                <code>
                  <Words text={planned.workdir} />
                </code>
              </span>
              {planned.checks.map((check, index) => (
                <span key={index} className="tiny soft">
                  checked by{" "}
                  <code>
                    <VisiblePieces text={checkText(check)} />
                  </code>
                  {checkNotes(check).map((note) => (
                    <span key={note} className="warn">
                      {" "}
                      <VisiblePieces text={note} />
                    </span>
                  ))}
                </span>
              ))}
            </div>
          </li>
        ))}
      </ol>
      {proposed.length === 0 ? null : (
        <div className="col tightest small">
          <span className="label">Criteria that the model proposes</span>
          {proposed.map(({ id, text: criterion }) => (
            <Prose key={id} text={`${id}: ${criterion}`} />
          ))}
        </div>
      )}
      {dropped.map(({ what, reason }, index) => (
        <p key={index} className="small warn">
          Not carried out: <Words text={what} />: <Words text={reason} />
        </p>
      ))}
      {asText ? <OutputBlock text={text} label="The whole question" /> : null}
      <div>
        <button type="button" className="button tight plain" aria-expanded={asText} onClick={() => setAsText(!asText)}>
          {asText ? "Hide the question as text" : "Show the question as text"}
        </button>
      </div>
    </div>
  );
}

/** The service gives every check that can be run as its arguments. */
const Run = z.object({ run: z.array(z.string()) });

function checkText(check: unknown): string {
  const read = Run.safeParse(check);
  return read.success ? argvLine(read.data.run) : (JSON.stringify(check) ?? "");
}

function checkNotes(check: unknown): string[] {
  return argvNotes(Run.safeParse(check).data?.run ?? []);
}
