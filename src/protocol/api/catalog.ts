// The queries and bodies of the catalog routes: agents, runners, models, and the routing policy.

import { z } from "zod";
import { AgentDefinition } from "../invocation/invocation-file.ts";
import { Review } from "../routing/review.ts";
import { queryBoolean } from "../query-boolean.ts";
import { listQuery, nextItem } from "./list-query.ts";

export const FolderQuery = z.strictObject({
  /** A folder in the project; where the service was started when absent. */
  folder: z.string().min(1).max(4096).optional(),
});

export const AgentView = z.strictObject({
  name: z.string(),
  file: z.string(),
  of: z.enum(["project", "user"]),
  definition: AgentDefinition,
});
export type AgentView = z.infer<typeof AgentView>;

/** A line of a file that is wrong, or whose effect its author may not expect. */
export const AgentProblem = z.strictObject({
  file: z.string(),
  line: z.int(),
  level: z.enum(["error", "warning"]),
  message: z.string(),
});
export type AgentProblem = z.infer<typeof AgentProblem>;

/** An agent in a list; `GET /v1/agents/{name}` has its definition. */
export const AgentSummary = AgentView.omit({ definition: true }).extend({
  /** What it is for, at most 400 characters. */
  description: z.string().optional(),
});
export type AgentSummary = z.infer<typeof AgentSummary>;

export const AgentsQuery = FolderQuery.extend(listQuery);
/** `problems` are those of all files, at most 200; only the first page has them. */
export const AgentList = z.strictObject({
  agents: z.array(AgentSummary),
  problems: z.array(AgentProblem),
  next: nextItem,
});
export type AgentList = z.infer<typeof AgentList>;

export const AgentParams = z.strictObject({ name: z.string().min(1).max(256) });

export const RunnerView = z.strictObject({
  kind: z.string(),
  /** The runtime it gives an agent. */
  runtime: z.string(),
  /** What runs a task there. */
  description: z.string(),
  of: z.enum(["builtin", "project"]),
});
export type RunnerView = z.infer<typeof RunnerView>;
export const RunnersQuery = FolderQuery.extend(listQuery);
export const RunnerList = z.strictObject({ runners: z.array(RunnerView), next: nextItem });
export type RunnerList = z.infer<typeof RunnerList>;

export const ModelView = z.strictObject({
  model: z.string(),
  /** Short names for it. */
  aliases: z.array(z.string()),
  /** Whether agents that name no model get this one. */
  default: z.boolean(),
  provider: z.string(),
  /** The variable that holds the key; null when none is needed. */
  key_env: z.string().nullable(),
  key: z.boolean(),
  /** Where the key comes from: the environment, or `tutti models login`; null when there is none or none is needed. */
  key_from: z.enum(["environment", "login"]).nullable(),
  /** Absent when it was not asked. */
  reachable: z.strictObject({ ok: z.boolean(), said: z.string() }).optional(),
  format: z.enum(["native", "fenced"]),
  /** Per million tokens; null is unknown. */
  price: z.strictObject({ input_micro_usd: z.number(), output_micro_usd: z.number() }).nullable(),
});
export type ModelView = z.infer<typeof ModelView>;

export const ModelsQuery = FolderQuery.extend(listQuery).extend({
  /** `true`: the providers are asked whether they are there. */
  probe: queryBoolean.optional(),
});
export const ModelList = z.strictObject({ models: z.array(ModelView), next: nextItem });
export type ModelList = z.infer<typeof ModelList>;

/** The routing policy that a goal which starts now would keep to its end. */
export const PolicyInForce = z.strictObject({
  /** `default`: nobody wrote it; it is made from the models that can be called. */
  source: z.enum(["project", "default"]),
  /** The file of the project's policy; null for a default. */
  file: z.string().nullable(),
  /** SHA-256 of the text. */
  hash: z.string(),
  /** Whether goals can start with it. A file that nobody agreed to, or that cannot be used, stops them. */
  usable: z.boolean(),
  /** In TOON or JSON; null when it cannot be used. */
  text: z.string().nullable(),
  /** Why it cannot be used, and what its author may not expect; at most 200. */
  problems: z.array(z.string()),
});
export type PolicyInForce = z.infer<typeof PolicyInForce>;

/** TOON or JSON text, or the object itself. */
export const PolicyQuestion = z.strictObject({
  handoff: z.union([z.string(), z.record(z.string(), z.unknown())]),
  /** The built-in policy when absent. */
  policy: z.union([z.string(), z.record(z.string(), z.unknown())]).optional(),
});
export type PolicyQuestion = z.infer<typeof PolicyQuestion>;

/** TOON or JSON text, or the object itself. */
export const ReviewQuestion = z.strictObject({
  review: z.union([z.string(), z.record(z.string(), z.unknown())]),
  /** Its thresholds count; the built-in policy when absent. */
  policy: z.union([z.string(), z.record(z.string(), z.unknown())]).optional(),
});
export type ReviewQuestion = z.infer<typeof ReviewQuestion>;

export const ReviewDecision = z.strictObject({
  /** `ask`: the reviewer approves without a confidence and is asked for one. */
  verdict: z.enum(["approve", "revise", "escalate", "ask"]),
  reason: z.string(),
  /** The confidence that an approval needs. */
  threshold: z.number(),
  /** The review as it was read. */
  envelope: Review,
  warnings: z.array(z.string()),
});
export type ReviewDecision = z.infer<typeof ReviewDecision>;

export const PolicyDecision = z.strictObject({
  model: z.string(),
  reason: z.string(),
  /** What the decision is based on, and the words that were found. */
  matched_by: z.string(),
  words: z.array(z.string()),
  /** The models to try next, if the policy has a list for this model. */
  fallback_models: z.array(z.string()).optional(),
  warnings: z.array(z.string()),
});
export type PolicyDecision = z.infer<typeof PolicyDecision>;
