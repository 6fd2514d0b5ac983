// `tutti nodes`: lists the nodes that work on the same records.
import type { Host } from "../../host/host.ts";
import { withDaemon } from "../connect.ts";
import { writeJson, writeLine } from "../terminal/screen.ts";
import { paint } from "../terminal/style.ts";
import { writeTable } from "../terminal/table.ts";
import { counted, duration } from "../terminal/units.ts";

export interface NodesOptions {
  readonly state?: string;
  readonly json?: boolean;
}

export async function nodesCommand(host: Host, options: NodesOptions): Promise<void> {
  await withDaemon(host, options, async (tutti) => {
    const list = await tutti.nodes();
    if (options.json === true) return writeJson(list);
    const now = Date.now();
    await writeTable(
      list.nodes.map((node) => ({
        mark: node.state === "alive" ? paint("green", "●") : paint("red", "✗"),
        cells: [
          node.name,
          node.state,
          node.url ?? "",
          node.version,
          counted(node.trees, "tree"),
          leaseText(node.lease_left_ms),
          behindText(node),
          `joined ${duration(Math.max(0, now - node.joined_at))} ago`,
          node.labels.join(", "),
        ],
      })),
    );
    if (list.trees_without_node > 0) {
      await writeLine(`${counted(list.trees_without_node, "unfinished tree")} without a node`);
    }
  });
}

function leaseText(left: number | null): string {
  if (left === null) return "no lease";
  return left === 0 ? "lease ended" : `lease ${duration(left)}`;
}

function behindText(node: { readonly changes_behind: number; readonly events_unplaced: number }): string {
  const parts = [
    ...(node.changes_behind === 0 ? [] : [counted(node.changes_behind, "change")]),
    ...(node.events_unplaced === 0 ? [] : [counted(node.events_unplaced, "event")]),
  ];
  return parts.length === 0 ? "up to date" : `${parts.join(", ")} behind`;
}
