// The queries, bodies and replies of the routes that make a pull request of the work of a task.

import { z } from "zod";
import { TaskId } from "../ids.ts";
import { AttemptQuery, BranchName, WorkspaceDiff } from "./workspace-shapes.ts";

/** The name of a remote, such as `origin`: never an address, and nothing that git takes for an option. */
const RemoteName = z
  .string()
  .max(200)
  .regex(/^[A-Za-z0-9][\w./-]*$/, "must be the name of a remote, such as origin");

const Title = z
  .string()
  .trim()
  .min(1)
  .max(200)
  .refine((text) => !/\p{Cc}/u.test(text), "must be one line");

export const PullRequestQuery = AttemptQuery.extend({
  remote: RemoteName.default("origin"),
  /** The branch that it goes into; that of the repository when absent. */
  base: BranchName.optional(),
  /** The title of the first commit when absent. */
  title: Title.optional(),
});
export type PullRequestQuery = z.input<typeof PullRequestQuery>;

const agreed = {
  branch: BranchName,
  /** The commit that is pushed, also when the branch moves. */
  tip: z.string().regex(/^[0-9a-f]{40,64}$/, "must be the full id of a commit"),
  remote: RemoteName,
  /** Where the remote pushes to, without a password that the address may have. */
  url: z.string().min(1).max(4_000),
  title: Title,
  /** Null for the branch that the repository chooses. */
  base: BranchName.nullable(),
};

/** What leaves the machine when somebody agrees, and what they should know before. */
export const PullRequestPlan = z.strictObject({
  task: TaskId,
  attempt: WorkspaceDiff.shape.attempt,
  ...agreed,
  commits: z.int().positive(),
  verification: WorkspaceDiff.shape.verification,
  /** Protected files that were changed and that nobody has approved. */
  protected: WorkspaceDiff.shape.protected,
  /** Files with work that is in no commit, and so is not pushed. */
  uncommitted: WorkspaceDiff.shape.uncommitted,
});
export type PullRequestPlan = z.infer<typeof PullRequestPlan>;

/** The plan that the caller agrees to. When anything of it does not hold any more, nothing is pushed. */
export const OpenPullRequest = z.strictObject({ attempt: z.int().min(1).optional(), ...agreed });
export type OpenPullRequest = z.input<typeof OpenPullRequest>;

/** As it was looked up after it was made. */
export const OpenedPullRequest = z.strictObject({
  task: TaskId,
  number: z.int(),
  url: z.string(),
  branch: z.string(),
  base: z.string(),
  commit: z.string(),
  /** There was one for this branch already, and the branch was pushed to it. */
  existed: z.boolean(),
});
export type OpenedPullRequest = z.infer<typeof OpenedPullRequest>;
