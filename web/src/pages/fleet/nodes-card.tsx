// The nodes that work on the same records, what each of them runs, and the tasks that no node can go on with.

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

import type { NodeList, NodeView } from "../../../../src/client/index.ts";
import { useConnection } from "../../api/connection.tsx";
import { useStatus } from "../../api/queries.ts";
import { plural } from "../../format/show-time.ts";
import { Card, TimeAgo } from "../../ui/controls.tsx";
import { Words } from "../../ui/outside-text.tsx";
import { StateMark } from "../../ui/state-mark.tsx";
import { Pending } from "../problem-pages.tsx";
import { labelWords, lagWords, leaseWords, worksAlone } from "./node-words.ts";

/** Every listing asks all nodes how much they have taken in, so it is not asked for more often. */
const listEveryMs = 5_000;

export function Nodes(): ReactNode {
  const { tutti } = useConnection();
  const list = useQuery({ queryKey: ["nodes"], queryFn: () => tutti.nodes(), refetchInterval: listEveryMs });
  return (
    <Card title="Nodes" end={<span className="count">{list.data?.nodes.length ?? 0}</span>} flush>
      {list.data === undefined ? <Pending error={list.error} /> : <NodeTable list={list.data} />}
    </Card>
  );
}

function NodeTable({ list }: { readonly list: NodeList }): ReactNode {
  return (
    <>
      <div className="scroll-x" tabIndex={0} role="region" aria-label="List of nodes">
        <table className="table nodes">
          <thead>
            <tr>
              <th>Node</th>
              <th>State</th>
              <th>Address</th>
              <th>Version</th>
              <th className="right">Trees</th>
              <th>Lease</th>
              <th>Lag</th>
              <th>Joined</th>
            </tr>
          </thead>
          <tbody>
            {list.nodes.map((node) => (
              <NodeRow key={node.name} node={node} />
            ))}
          </tbody>
        </table>
      </div>
      {list.trees_without_node === 0 ? null : (
        <p className="card-foot small warn">
          {plural(list.trees_without_node, "unfinished tree")} without a node. A node that lives takes over what it can
          run.
        </p>
      )}
      {list.nodes.length > 1 ? null : <HowToHaveMore alone={worksAlone(list.nodes)} />}
    </>
  );
}

function NodeRow({ node }: { readonly node: NodeView }): ReactNode {
  const behind = node.changes_behind + node.events_unplaced > 0;
  return (
    <tr>
      <td>
        <strong>
          <Words text={node.name} />
        </strong>{" "}
        {node.here ? <span className="tag">answers this page</span> : null}
        {node.labels.length === 0 ? null : (
          <div className="tiny faint" title={node.labels.join(", ")}>
            <Words text={labelWords(node.labels)} />
          </div>
        )}
      </td>
      <td>
        <StateMark state={node.state} />
      </td>
      <td>{node.url === null ? <span className="faint">does not listen</span> : <code>{node.url}</code>}</td>
      <td>{node.version}</td>
      <td className="right num">{node.trees}</td>
      <td className={node.lease_left_ms === 0 ? "bad" : "num"}>{leaseWords(node.lease_left_ms)}</td>
      <td className={behind ? "warn" : ""}>{lagWords(node)}</td>
      <td>
        <TimeAgo at={node.joined_at} />
      </td>
    </tr>
  );
}

function HowToHaveMore({ alone }: { readonly alone: boolean }): ReactNode {
  return (
    <div className="card-foot small soft col">
      <p>
        {alone
          ? "This daemon works alone, on records of its own. Daemons that share a PostgreSQL are one Tutti, and when one of them is lost, its tasks go on at another. Start this on each machine:"
          : "This is the only node of its database. Start another one with the same database on any machine, and it takes its share:"}
      </p>
      <code className="command">tutti up --database postgres://…</code>
      <p>
        The page <code>docs/cluster.md</code> of the documentation tells the rest.
      </p>
    </div>
  );
}

/** Absent while everything can go on. */
export function ParkedTasks(): ReactNode {
  const parked = useStatus().data?.parked ?? [];
  if (parked.length === 0) return null;
  return (
    <Card title="Cannot go on here" end={<span className="count needs">{parked.length}</span>} flush>
      {parked.map(({ task, runner, reason }) => (
        <Link key={task} to="/tasks/$task" params={{ task }} className="item">
          <StateMark state="parked" bare />
          <span className="col tightest grow">
            <code>{task}</code>
            <span className="small soft wrap">
              <Words text={reason ?? `This Tutti has no runner ${runner}.`} />
            </span>
          </span>
        </Link>
      ))}
    </Card>
  );
}
