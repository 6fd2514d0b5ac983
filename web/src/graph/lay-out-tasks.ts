// Places the tasks of a goal on a plane: each one to the right of what it waits for, without overlaps, the same every time.

export interface GraphTask {
  readonly id: string;
  /** Tasks that come before it: those it waits for, or the one that started it. */
  readonly after: readonly string[];
}

interface PlacedTask {
  readonly id: string;
  readonly x: number;
  readonly y: number;
}

export interface GraphLayout {
  readonly places: ReadonlyMap<string, PlacedTask>;
  readonly edges: readonly { readonly from: string; readonly to: string }[];
  readonly width: number;
  readonly height: number;
}

export const nodeSize = { width: 232, height: 84 } as const;
const gap = { x: 88, y: 22, column: 28 } as const;
/** A layer of more tasks goes on in a further column. */
const mostRows = 24;

export function layOutTasks(tasks: readonly GraphTask[]): GraphLayout {
  const known = new Map<string, GraphTask>(tasks.map((task) => [task.id, task]));
  const before = new Map<string, readonly string[]>();
  for (const [id, { after }] of known) {
    before.set(
      id,
      [...new Set(after)].filter((each) => each !== id && known.has(each)),
    );
  }
  const layers = orderedLayers(layersOf(before), before);
  const places = new Map<string, PlacedTask>();
  const tallest = Math.min(mostRows, Math.max(0, ...layers.map((layer) => layer.length)));
  const height = tallest * (nodeSize.height + gap.y) - gap.y;
  let x = 0;
  for (const layer of layers) {
    const columns = Math.ceil(layer.length / mostRows);
    const rows = Math.ceil(layer.length / columns);
    for (const [index, id] of layer.entries()) {
      const [column, row] = [Math.floor(index / rows), index % rows];
      const inColumn = Math.min(rows, layer.length - column * rows);
      const top = (height - (inColumn * (nodeSize.height + gap.y) - gap.y)) / 2;
      places.set(id, {
        id,
        x: x + column * (nodeSize.width + gap.column),
        y: Math.round(top + row * (nodeSize.height + gap.y)),
      });
    }
    x += columns * (nodeSize.width + gap.column) - gap.column + gap.x;
  }
  const edges = [...before].flatMap(([to, froms]) => froms.map((from) => ({ from, to })));
  return { places, edges, width: Math.max(0, x - gap.x), height: Math.max(0, height) };
}

/** A task is one layer after the last of those before it. Tasks that wait for each other in a circle come last. */
function layersOf(before: ReadonlyMap<string, readonly string[]>): string[][] {
  const next = new Map<string, string[]>();
  const missing = new Map<string, number>();
  for (const [id, froms] of before) {
    missing.set(id, froms.length);
    for (const from of froms) next.set(from, [...(next.get(from) ?? []), id]);
  }
  let ready = [...before.keys()].filter((id) => missing.get(id) === 0);
  const layers: string[][] = [];
  const placed = new Set<string>();
  while (ready.length > 0) {
    layers.push(ready);
    const following: string[] = [];
    for (const id of ready) {
      placed.add(id);
      for (const to of next.get(id) ?? []) {
        const left = (missing.get(to) ?? 0) - 1;
        missing.set(to, left);
        if (left === 0) following.push(to);
      }
    }
    ready = following;
  }
  const circle = [...before.keys()].filter((id) => !placed.has(id));
  return circle.length === 0 ? layers : [...layers, circle];
}

/** Tasks stand near the middle of those before them, so that few edges cross; equals keep the order in which they came. */
function orderedLayers(layers: readonly string[][], before: ReadonlyMap<string, readonly string[]>): string[][] {
  const rank = new Map<string, number>();
  return layers.map((layer) => {
    const wanted = layer.map((id, index) => {
      const ranks = (before.get(id) ?? []).flatMap((from) => rank.get(from) ?? []);
      const middle = ranks.length === 0 ? undefined : ranks.reduce((sum, each) => sum + each, 0) / ranks.length;
      return { id, middle: middle ?? (layer.length === 1 ? 0.5 : index / (layer.length - 1)) };
    });
    const ordered = wanted.toSorted((a, b) => a.middle - b.middle).map(({ id }) => id);
    for (const [index, id] of ordered.entries())
      rank.set(id, ordered.length === 1 ? 0.5 : index / (ordered.length - 1));
    return ordered;
  });
}
