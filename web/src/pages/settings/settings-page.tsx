// What this Tutti has to work with: models and whether their keys are there, agents, runners, limits, approvals and access keys.

import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";

import { anyWords, argvLine } from "../../../../src/protocol/index.ts";
import { useConnection } from "../../api/connection.tsx";
import { useStatus } from "../../api/queries.ts";
import { attempt } from "../../api/toasts.tsx";
import { money } from "../../format/show-time.ts";
import { Card, Empty, Facts, TimeAgo } from "../../ui/controls.tsx";
import { VisiblePieces, Words } from "../../ui/outside-text.tsx";
import { Pending } from "../problem-pages.tsx";
import { AccessKeys } from "./access-keys.tsx";
import { Limits } from "./limits-view.tsx";

export function SettingsPage(): ReactNode {
  return (
    <div className="page">
      <h1>Settings</h1>
      <Service />
      <Models />
      <Agents />
      <Runners />
      <Limits />
      <Approvals />
      <AccessKeys />
    </div>
  );
}

function Service(): ReactNode {
  const { tutti } = useConnection();
  const status = useStatus();
  const setup = useQuery({ queryKey: ["setup"], queryFn: () => tutti.setup() });
  if (status.data === undefined || setup.data === undefined) return <Pending error={status.error ?? setup.error} />;
  const { sandbox } = setup.data;
  return (
    <Card title="This Tutti">
      <Facts
        rows={[
          ["Version", `${setup.data.version} on Node ${setup.data.node}, ${setup.data.platform}`],
          ["State folder", <code key="s">{status.data.state}</code>],
          ["Address", <code key="a">{status.data.url ?? location.origin}</code>],
          ["Started", <TimeAgo key="t" at={status.data.started_at} />],
          [
            "Sandbox",
            <span key="b" className={sandbox.confined ? "good" : "warn"}>
              {sandbox.said}
            </span>,
          ],
          ["Default model", <code key="m">{setup.data.default_model}</code>],
        ]}
      />
    </Card>
  );
}

function Models(): ReactNode {
  const { call } = useConnection();
  const models = useQuery({ queryKey: ["models"], queryFn: () => call("models", { query: {} }) });
  return (
    <Card title="Models" flush>
      {models.data === undefined ? (
        <Pending error={models.error} />
      ) : (
        <div className="scroll-x" tabIndex={0} role="region" aria-label="Models">
          <table className="table">
            <thead>
              <tr>
                <th>Model</th>
                <th>Key</th>
                <th className="right">Per million tokens, in and out</th>
              </tr>
            </thead>
            <tbody>
              {models.data.models.map((model) => (
                <tr key={model.model}>
                  <td>
                    <code>{model.model}</code> {model.default ? <span className="tag">default</span> : null}
                    {model.aliases.length === 0 ? null : <div className="tiny faint">{model.aliases.join(", ")}</div>}
                  </td>
                  <td>
                    {model.key_env === null ? (
                      <span className="soft">needs none</span>
                    ) : model.key ? (
                      <span className="good">✓ present, from {model.key_from}</span>
                    ) : (
                      <span className="soft">
                        ✗ missing: set <code>{model.key_env}</code>
                      </span>
                    )}
                  </td>
                  <td className="right num">
                    {model.price === null
                      ? "not known"
                      : `${money(model.price.input_micro_usd)}, ${money(model.price.output_micro_usd)}`}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Card>
  );
}

function Agents(): ReactNode {
  const { call } = useConnection();
  const agents = useQuery({ queryKey: ["agents"], queryFn: () => call("agents", { query: {} }) });
  return (
    <Card title="Agents" flush>
      {agents.data === undefined ? (
        <Pending error={agents.error} />
      ) : agents.data.agents.length === 0 ? (
        <Empty title="No agents of your own" command="tutti agents new reviewer">
          An agent is a Markdown file with instructions, tools and a model. This makes one:
        </Empty>
      ) : (
        agents.data.agents.map((agent) => (
          <div key={agent.file} className="item">
            <div className="col tightest grow">
              <strong>
                <Words text={agent.name} />
              </strong>
              <span className="small soft">
                <Words text={agent.description ?? ""} />
              </span>
              <code className="tiny faint">{agent.file}</code>
            </div>
            <span className="tag">{agent.of}</span>
          </div>
        ))
      )}
      {agents.data?.problems.map((problem, index) => (
        <div key={index} className={`item small ${problem.level === "error" ? "bad" : "warn"}`}>
          {problem.file}:{problem.line} <Words text={problem.message} />
        </div>
      ))}
    </Card>
  );
}

function Runners(): ReactNode {
  const { call } = useConnection();
  const runners = useQuery({ queryKey: ["runners"], queryFn: () => call("runners", { query: {} }) });
  return (
    <Card title="Runners" flush>
      {runners.data?.runners.map((runner) => (
        <div key={runner.kind} className="item">
          <code>{runner.kind}</code>
          <span className="grow soft small">{runner.description}</span>
          <span className="tag">{runner.of}</span>
        </div>
      )) ?? <Pending error={runners.error} />}
    </Card>
  );
}

function Approvals(): ReactNode {
  const { tutti, queries } = useConnection();
  const approvals = useQuery({ queryKey: ["approvals"], queryFn: () => tutti.approvals() });
  const revoke = async (id: string): Promise<void> => {
    await attempt(() => tutti.revokeApproval(id), "From now on you are asked again.");
    await queries.invalidateQueries({ queryKey: ["approvals"] });
  };
  return (
    <Card title="Standing approvals" flush>
      {approvals.data === undefined ? (
        <Pending error={approvals.error} />
      ) : approvals.data.length === 0 ? (
        <Empty title="You are asked about everything">
          “Always allow this” in an approval puts a kind of call on this list, for one project.
        </Empty>
      ) : (
        approvals.data.map(({ id, calls, project, at, by }) => (
          <div key={id} className="item">
            <div className="col tightest grow">
              <code>
                <VisiblePieces
                  text={calls.argv === undefined ? calls.tool : argvLine(calls.argv, { placeholder: anyWords })}
                />
              </code>
              <span className="tiny faint">
                {project} · by {by} <TimeAgo at={at} />
              </span>
            </div>
            <button type="button" className="button tight" onClick={() => void revoke(id)}>
              Revoke
            </button>
          </div>
        ))
      )}
    </Card>
  );
}
