// Which tools an agent has: its own configuration, and what a child inherits from its parent.

import { z } from "zod";

const delivery = {
  /**
   * `full`: the model sees every tool whole. `deferred`: when there are more than `deferred_threshold`, it sees their names and
   * purposes, and finds the rest with the tool `tool_search`. `names_only`: it always sees the names alone.
   */
  delivery_mode: z.enum(["full", "deferred", "names_only"]).default("deferred"),
  deferred_threshold: z.int().nonnegative().default(15),
  /** Tools that are shown whole whatever the mode is. */
  always_full_schema: z.array(z.string()).default(() => []),
};

/** How an agent's tools are shown to its model. */
export const ToolDelivery = z.strictObject(delivery);
export type ToolDelivery = z.infer<typeof ToolDelivery>;

/** An agent's tools. Unknown fields are refused: a misspelt list would silently change what an agent may do. */
export const ToolsConfig = z.strictObject({
  builtin: z.array(z.string()).default(() => []),
  dynamic: z
    .array(
      z.strictObject({
        name: z.string(),
        type: z.string(),
        config: z.unknown(),
        description: z.string().optional(),
      }),
    )
    .default(() => []),
  /** `include` and `exclude` are globs over the server's tool names; `["*"]` includes all. */
  mcp: z
    .array(
      z.strictObject({
        server: z.string(),
        include: z.array(z.string()).default(() => []),
        exclude: z.array(z.string()).default(() => []),
      }),
    )
    .default(() => []),
  /** Tools that the client carries out, by name, or `["*"]`. */
  external: z.array(z.string()).optional(),
  ...delivery,
});
export type ToolsConfig = z.infer<typeof ToolsConfig>;

/** Which of its parent's tools a child inherits: all, the named ones, or none. It keeps its own built-in tools. */
export const ToolPolicy = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("inherit") }),
  z.object({ kind: z.literal("exact"), tools: z.array(z.string()) }),
  z.object({ kind: z.literal("none") }),
]);
export type ToolPolicy = z.infer<typeof ToolPolicy>;
