// Says of trees that were imported unfinished what a node must have to run them, as is recorded with a tree that a node starts.

import { isAbsolute } from "node:path";

import type pg from "pg";
import { z } from "zod";

import { parseJson } from "../../protocol/json/parse-json.ts";
import { NodeLabelList } from "../../protocol/invocation/node-label.ts";
import { storedText } from "../postgres/stored-text.ts";

const Folder = z.string().refine(isAbsolute);
const Config = z.object({
  project: Folder.optional(),
  folder: Folder.optional(),
  named: z.object({ name: z.string() }).optional(),
});
const ConfigIn = z.object({ config: Config });
const LabelsIn = z.object({ input: z.object({ labels: NodeLabelList }) });

export async function placeImported(client: Pick<pg.ClientBase, "query">): Promise<void> {
  const { rows } = await client.query<{ root: number; body: string }>(
    "SELECT t.root, k.body FROM trees t JOIN tasks k ON k.id = t.root WHERE t.open AND t.needs = '{}'",
  );
  for (const { root, body } of rows) {
    const needs = needsIn(body);
    if (needs.length > 0) await client.query("UPDATE trees SET needs = $2 WHERE root = $1", [root, needs]);
  }
}

function needsIn(body: string): string[] {
  const value = parseJson(body);
  const { project, folder, named } = ConfigIn.safeParse(value).data?.config ?? {};
  const place = named?.name ?? project ?? folder;
  const labels = LabelsIn.safeParse(value).data?.input.labels ?? [];
  return [...labels, ...(place === undefined ? [] : [`project:${place}`])].map(storedText);
}
