// The routing policy that a goal which starts now would keep, and where it comes from.

import type { ReactNode } from "react";

import type { PolicyInForce } from "../../../../src/client/index.ts";
import { Card, Facts } from "../../ui/controls.tsx";
import { OutputBlock, Words } from "../../ui/outside-text.tsx";

export function PolicyText({ policy }: { readonly policy: PolicyInForce }): ReactNode {
  return (
    <Card
      title="Policy in force"
      end={
        <span className={`small ${policy.usable ? "good" : "warn"}`}>{policy.usable ? "in use" : "not in use"}</span>
      }
    >
      <div className="col">
        <Facts
          rows={[
            [
              "Comes from",
              policy.file === null ? (
                "Tutti: no file was written, so it is made from the models that can be called"
              ) : (
                <code key="f">
                  <Words text={policy.file} />
                </code>
              ),
            ],
            [
              "SHA-256",
              <code key="h" title={policy.hash}>
                {policy.hash.slice(0, 16)}
              </code>,
            ],
          ]}
        />
        {policy.usable ? null : (
          <p className="small warn" role="status">
            Goals of this project cannot start until its policy can be used. The playground uses the built-in policy.
          </p>
        )}
        {policy.problems.map((problem) => (
          <p key={problem} className="small warn">
            <Words text={problem} />
          </p>
        ))}
        {policy.text === null ? null : <OutputBlock text={policy.text} lines={200} label="Policy" />}
      </div>
    </Card>
  );
}
