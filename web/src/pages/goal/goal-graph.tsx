// The live graph of a goal. Boxes are placed once for each shape of the tree; what a box shows is read from a store of its own.

import { Background, Controls, type Edge, Handle, type Node, type NodeProps, Position, ReactFlow } from "@xyflow/react";
import "@xyflow/react/dist/base.css";
import { useNavigate } from "@tanstack/react-router";
import {
  createContext,
  memo,
  type ReactNode,
  useCallback,
  useContext,
  useEffect,
  useMemo,
  useState,
  useSyncExternalStore,
} from "react";

import type { GoalView, TaskId } from "../../../../src/client/index.ts";
import { count, duration, money } from "../../format/show-time.ts";
import { type GraphBox, goalGraphTasks } from "../../graph/goal-graph-tasks.ts";
import { layOutTasks, nodeSize } from "../../graph/lay-out-tasks.ts";
import type { LiveTask, LiveTree } from "../../live/fold-tasks.ts";
import { Words } from "../../ui/outside-text.tsx";
import { visibleLine } from "../../text/mark-invisible.ts";
import { StateMark } from "../../ui/state-mark.tsx";
import { Running } from "../running.tsx";

type BoxNode = Node<{ readonly box: GraphBox }, "task">;

/** What the boxes show. A change of one task draws one box again, however many there are. */
class BoxStates {
  tasks: ReadonlyMap<TaskId, LiveTask> = new Map();
  links: ReadonlyMap<TaskId, string> = new Map();
  workers: ReadonlyMap<TaskId, string> = new Map();
  readonly #listeners = new Set<() => void>();

  readonly watch = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  set(
    tasks: ReadonlyMap<TaskId, LiveTask>,
    links: ReadonlyMap<TaskId, string>,
    workers: ReadonlyMap<TaskId, string>,
  ): void {
    this.tasks = tasks;
    this.links = links;
    this.workers = workers;
    for (const listener of this.#listeners) listener();
  }
}

const StatesContext = createContext(new BoxStates());

export function GoalGraph({
  goal,
  tree,
  workers,
}: {
  readonly goal: GoalView;
  readonly tree: LiveTree;
  readonly workers: ReadonlyMap<TaskId, string>;
}): ReactNode {
  const navigate = useNavigate();
  const [states] = useState(() => new BoxStates());
  const links = useMemo(() => new Map(goal.links.map(({ task, state }) => [task, state as string])), [goal.links]);
  useEffect(() => states.set(tree.tasks, links, workers), [states, tree, links, workers]);
  // A changed state of a link replaces the links, and leaves the shape as it is.
  const shape = `${goal.plan.length} ${goal.links.length} ${tree.shape}`;
  const { nodes, edges, height } = useMemo(() => {
    const boxes = goalGraphTasks(goal, tree.tasks);
    const layout = layOutTasks(boxes);
    return {
      height: layout.height,
      nodes: boxes.map((box): BoxNode => {
        const { x = 0, y = 0 } = layout.places.get(box.id) ?? {};
        return { id: box.id, type: "task", position: { x, y }, data: { box }, ...fixedSize };
      }),
      edges: layout.edges.map(({ from, to }): Edge => ({
        id: `${from} ${to}`,
        source: from,
        target: to,
        focusable: false,
      })),
    };
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- the shape says when boxes were added
  }, [goal.id, shape]);
  const open = useCallback((task: TaskId) => void navigate({ to: "/tasks/$task", params: { task } }), [navigate]);
  return (
    <StatesContext value={states}>
      <div className="canvas" style={{ height: Math.min(560, Math.max(260, height + 140)) }}>
        <Canvas key={`${goal.id} ${nodes.length === 0 ? 0 : 1}`} nodes={nodes} edges={edges} onOpen={open} />
      </div>
    </StatesContext>
  );
}

const fit = { padding: 0.15, maxZoom: 1, minZoom: 0.35 } as const;
const withoutName = { hideAttribution: true } as const;

/** Drawn again only when there are other boxes: what a box shows changes inside of the box. */
const Canvas = memo(function Canvas({
  nodes,
  edges,
  onOpen,
}: {
  readonly nodes: BoxNode[];
  readonly edges: Edge[];
  readonly onOpen: (task: TaskId) => void;
}): ReactNode {
  return (
    <ReactFlow
      nodes={nodes}
      edges={edges}
      nodeTypes={nodeTypes}
      fitView
      fitViewOptions={fit}
      minZoom={0.1}
      maxZoom={1.5}
      onlyRenderVisibleElements
      nodesDraggable={false}
      nodesConnectable={false}
      edgesFocusable={false}
      elementsSelectable={false}
      zoomOnScroll={false}
      preventScrolling={false}
      proOptions={withoutName}
      aria-label="Graph of the tasks"
      onNodeClick={(_, node) => {
        const { task } = node.data.box;
        if (task !== undefined) onOpen(task);
      }}
    >
      <Background gap={24} size={1} />
      <Controls showInteractive={false} orientation="horizontal" />
    </ReactFlow>
  );
});

const fixedSize = { ...nodeSize, initialWidth: nodeSize.width, initialHeight: nodeSize.height, measured: nodeSize };

const TaskBox = memo(function TaskBox({ data: { box } }: NodeProps<BoxNode>): ReactNode {
  const states = useContext(StatesContext);
  const task = useSyncExternalStore(states.watch, () =>
    box.task === undefined ? undefined : states.tasks.get(box.task),
  );
  const link = useSyncExternalStore(states.watch, () =>
    box.task === undefined ? undefined : states.links.get(box.task),
  );
  const worker = useSyncExternalStore(states.watch, () =>
    box.task === undefined ? undefined : states.workers.get(box.task),
  );
  const state = shownState(task, link);
  return (
    <div className={`box box-${state}`} title={visibleLine(box.title)}>
      <Handle type="target" position={Position.Left} isConnectable={false} />
      <div className="row spread">
        <strong className="clip">
          <Words text={box.planned ?? box.title} />
        </strong>
        <StateMark state={state} />
      </div>
      <div className="clip tiny soft">
        <Words text={box.planned === undefined ? (task?.prompt ?? box.task ?? "") : box.title} />
      </div>
      <div className="row spread tiny faint num">
        <span className="clip">
          {task === undefined ? "not begun" : <Words text={task.checking ?? task.worker ?? worker ?? task.runner} />}
        </span>
        {task === undefined ? null : (
          <span className="box-numbers">
            <Elapsed task={task} /> ·{" "}
            {task.money_micro_usd > 0 ? money(task.money_micro_usd) : `${count(task.tokens)} tok`}
          </span>
        )}
      </div>
      <Handle type="source" position={Position.Right} isConnectable={false} />
    </div>
  );
});

const nodeTypes = { task: TaskBox };

/** What the link says counts once Tutti has judged the work; until then, what the task is doing. */
export function shownState(task: LiveTask | undefined, link: string | undefined): string {
  if (link === "verified" || link === "unverified" || link === "failed" || link === "superseded") return link;
  return task?.status ?? "planned";
}

function Elapsed({ task }: { readonly task: LiveTask }): ReactNode {
  return task.ended_at === null ? <Running since={task.created_at} /> : duration(task.ended_at - task.created_at);
}
