// The bodies of the service routes: whether it is alive and ready, what it is doing, and its keys.

import { z } from "zod";
import { KeyGrant } from "../invocation/by-program.ts";
import { TaskId, Time } from "../ids.ts";
import { Budget } from "../task/budget.ts";
import { nextItem } from "./list-query.ts";

export const Health = z.strictObject({ ok: z.literal(true) });
export const Readiness = z.strictObject({ ready: z.boolean(), reason: z.string().optional() });

const DayAccount = z.strictObject({
  /** As the user's own config has it. */
  limit: z.int().positive(),
  /** By how much a person raised it, for this day. */
  raised: z.int().nonnegative(),
  used: z.int().nonnegative(),
  /** For calls under way, and by processes that ended under theirs. */
  reserved: z.int().nonnegative(),
});
export type DayAccount = z.infer<typeof DayAccount>;

export const ServiceStatus = z.strictObject({
  /** A new id at every start. */
  instance: z.string(),
  version: z.string(),
  /** Null if the tasks run in the process that asks. */
  url: z.string().nullable(),
  pid: z.int().positive(),
  state: z.string(),
  started_at: Time,
  /** Unfinished work is being taken up; until that is done, only the service itself answers. */
  starting: z.boolean(),
  paused: z.boolean(),
  /** Why no new work is taken, such as a full disk; null while it is. The service goes on by itself when the reason is gone. */
  degraded: z.strictObject({ code: z.string(), message: z.string() }).nullable(),
  /** Tasks that have not ended, by status. */
  tasks: z.strictObject({ pending: z.int(), running: z.int(), input_required: z.int() }),
  /** Questions that wait for a person. */
  asks: z.int().nonnegative(),
  /** What all work may use in a day of UTC; absent when the user's config has no cap, null for what has none. */
  day: z
    .strictObject({
      tokens: DayAccount.nullable(),
      money_micro_usd: DayAccount.nullable(),
      /** What a person decided about the rest of the day, once a cap was used up. */
      decision: z.enum(["wait", "stop"]).nullable(),
      /** When the day is over. */
      until: Time,
    })
    .optional(),
  operators: z.strictObject({ joined: z.int(), connected: z.int() }),
  /** How many unfinished tasks were resumed at the start. */
  resumed: z.int().nonnegative(),
  /** Unfinished tasks of a runner this version does not have, or that could not be read; they are left as they are. */
  parked: z.array(z.strictObject({ task: TaskId, runner: z.string(), reason: z.string().optional() })),
  /** The last event recorded. */
  seq: z.int().nonnegative(),
});
export type ServiceStatus = z.infer<typeof ServiceStatus>;

const ProviderSetup = z.strictObject({
  provider: z.string(),
  /** The variables that may hold its key, in order. */
  key_env: z.array(z.string()),
  /** Where the process finds the key; null when it has none. The key itself is never told. */
  key_from: z.enum(["environment", "login"]).nullable(),
});
export type ProviderSetup = z.infer<typeof ProviderSetup>;

/** What the process allows where nobody says otherwise. Null where there is no limit. */
export const ServiceLimits = z.strictObject({
  /** What a tree of tasks may use when whoever started it set nothing. */
  budget: Budget,
  /** How many tasks of all trees run at the same time; one that waits does not count. */
  slots: z.int().positive(),
  /** What all work may use in a day of UTC, in the config of the user; null where there is no cap. */
  day: z.strictObject({ tokens: z.int().nullable(), money_micro_usd: z.int().nullable() }),
  /** How much of the disk of the state folder must be free for new work; null when the system does not tell. */
  min_free_bytes: z.int().nonnegative().nullable(),
  /** How much room all workspaces may take, and after how many days without use one is removed. */
  workspaces: z.strictObject({ max_bytes: z.int().nonnegative().nullable(), keep_days: z.number().nullable() }),
  /** The same for results of setup that are kept for other workspaces. */
  setup_cache: z.strictObject({ max_bytes: z.int().nonnegative(), keep_days: z.number() }),
  sessions: z.strictObject({
    /** A session of a coding agent of which nothing was heard for so long is ended. */
    idle_after_ms: z.number().nullable(),
    /** A coding agent that failed so often in a row waits for a person; 0 means never. */
    max_failures: z.int().nonnegative(),
  }),
});
export type ServiceLimits = z.infer<typeof ServiceLimits>;

export const ServiceSetup = z.strictObject({
  version: z.string(),
  /** The version of Node. */
  node: z.string(),
  platform: z.string(),
  sandbox: z.strictObject({ confined: z.boolean(), said: z.string() }),
  /** The model of agents that name none. */
  default_model: z.string(),
  /** The providers that need a key. */
  providers: z.array(ProviderSetup),
  limits: ServiceLimits,
});
export type ServiceSetup = z.infer<typeof ServiceSetup>;

export const Paused = z.strictObject({ paused: z.boolean() });

export const Shutdown = z.strictObject({
  /** How long running steps may take to finish; the rest continues at the next start. */
  grace_ms: z.int().min(0).max(600_000).optional(),
});

/** viewer: reads. operator: also starts, answers, cancels, joins as an operator. admin: also keys and shutdown. */
export const KeyRole = z.enum(["viewer", "operator", "admin"]);
export type KeyRole = z.infer<typeof KeyRole>;

/** Who uses a key: a person, or a program and what it may do unasked. */
const standing = {
  /** What is asked with it counts as said by a person. */
  person: z.boolean(),
  /** What a program may do with it that otherwise waits for a person's yes. */
  may: z.array(KeyGrant),
  /** Folders that the work of a program may touch without a person's yes. */
  folders: z.array(z.string()),
};

/** Never the key itself, of which only the digest is stored. */
export const KeyView = z.strictObject({
  id: z.string(),
  name: z.string(),
  role: KeyRole,
  ...standing,
  created_at: Time,
  revoked_at: Time.nullable(),
});
export type KeyView = z.infer<typeof KeyView>;

export const NewKey = z.strictObject({
  name: z
    .string()
    .trim()
    .min(1)
    .max(64)
    .refine((text) => !/\p{Cc}/u.test(text), "must be one line"),
  role: KeyRole,
  /** A program's when absent. Only a person makes a key of a person, or one with `may` or `folders`. */
  person: z.boolean().optional(),
  may: standing.may.optional(),
  /** Absolute paths. */
  folders: z.array(z.string().max(4096).regex(/^\//)).max(100).optional(),
});
export type NewKey = z.infer<typeof NewKey>;

/** The key is shown this once. */
export const MadeKey = KeyView.extend({ key: z.string() });
export type MadeKey = z.infer<typeof MadeKey>;

export const KeyList = z.strictObject({ keys: z.array(KeyView), next: nextItem });
export type KeyList = z.infer<typeof KeyList>;
