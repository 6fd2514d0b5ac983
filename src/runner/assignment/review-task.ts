// The review of an attempt: a task of its own that can only read, on a fresh checkout of the commit.

import type { NewTask, Durable } from "../../ports.ts";
import { reviewerAgent, reviewerTools } from "../../agent/delegation/find-agent.ts";
import type { TaskInput } from "../../agent/delegation/task-input.ts";
import { readModelRef } from "../../core/choose-route.ts";
import { parseModelRef } from "../../protocol/routing/model-ref.ts";
import type { HandoffEvent } from "../../core/handoff-machine.ts";
import { groundReview, type ReviewGround } from "../../core/ground-review.ts";
import { judgeReview } from "../../core/review-verdict.ts";
import { mayUse } from "../../core/rights.ts";
import type { RunnerConfig } from "../../protocol/invocation/executor.ts";
import type { AgentResult } from "../../protocol/invocation/invocation-result.ts";
import { readReview } from "../../protocol/routing/read-review.ts";
import type { Review } from "../../protocol/routing/review.ts";
import type { EvidenceFact } from "../../protocol/task/evidence.ts";
import { userMessage } from "../../protocol/task/message.ts";
import type { Worked } from "./attempt-records.ts";

export interface ReviewOrder {
  readonly key: string;
  /** `[runner:]model` of the reviewer and of the author. */
  readonly ref: string;
  readonly author: string | undefined;
  readonly prompt: string;
  readonly saved: Worked["saved"];
  readonly threshold: number;
  readonly ground: ReviewGround;
  readonly resolve: (name: string) => string;
  readonly hash: (value: unknown) => string;
}

export interface ReviewOutcome {
  readonly event: HandoffEvent;
  /** Absent when the review decides nothing. */
  readonly fact: Extract<EvidenceFact, { kind: "review" }> | undefined;
  readonly reviewer: string;
  /** The review as it was given. */
  readonly text: string;
}

const longestFinding = 1_000;
const mostFindings = 50;

export async function reviewAttempt(durable: Durable, order: ReviewOrder): Promise<ReviewOutcome> {
  const { key, ref, author, threshold, ground, resolve, hash } = order;
  const [reviewer = ""] = await durable.spawn(key, [reviewTask(durable, order)]);
  const [result] = await durable.join([reviewer]);
  const text = textOf(result);
  const read = readGiven(result);
  if (!read.ok) {
    return { event: { type: "unreadable", problem: read.problem, hash: hash(text) }, fact: undefined, reviewer, text };
  }
  const { review } = read;
  const event = { type: "reviewed", review, hash: hash(review) } as const;
  const { verdict } = judgeReview(review, threshold);
  if (verdict === "ask") return { event, fact: undefined, reviewer, text };
  const { conf = 0, findings = [] } = review.review;
  const fact = {
    kind: "review" as const,
    reviewer,
    gate: verdict,
    model: ref,
    same_model: author === undefined || isSameModel(author, ref, resolve),
    conf: Math.min(1, Math.max(0, conf)),
    findings: findings.slice(0, mostFindings).map((finding) => finding.slice(0, longestFinding)),
    ...groundReview(review.review.points, ground),
  };
  return { event, fact, reviewer, text };
}

function reviewTask(durable: Durable, { ref, prompt, saved, resolve }: ReviewOrder): NewTask {
  const { runner, model } = readModelRef(ref);
  const tools = reviewerTools.filter((tool) => mayUse(durable.rights, tool));
  const input: TaskInput = {
    agent: { type: "named", agent_id: reviewerAgent },
    message: userMessage(prompt),
    tools,
    context: "independent",
  };
  const place = placeOf(saved);
  const config: RunnerConfig["config"] =
    runner.kind === "local"
      ? { model: resolve(model), ...place }
      : { ...Object(runner.config), workspace: place.workspace };
  return {
    runner: { kind: runner.kind, config },
    agent: reviewerAgent,
    input,
    rights: { tools, roots: durable.rights.roots },
  };
}

/** Without git there is no commit to check out, so the reviewer reads the folder that the session left. */
function placeOf(saved: Worked["saved"]): { readonly workspace?: object; readonly within?: string } {
  if (saved === null) return {};
  if (saved.mode === "worktree" && saved.tip !== null) return { workspace: { mode: "worktree", base: saved.tip } };
  return saved.mode === "copy" ? { within: saved.workspace } : {};
}

/** The author may be no model at all but a program, which `readModelRef` refuses. */
function isSameModel(one: string, other: string, resolve: (name: string) => string): boolean {
  const nameOf = (ref: string): string => {
    const { runner = "local", model } = parseModelRef(ref.trim());
    return runner === "local" ? resolve(model) : model;
  };
  return one === other || nameOf(one) === nameOf(other);
}

function textOf(result: AgentResult | undefined): string {
  const content = result?.content;
  return typeof content === "string" ? content : (JSON.stringify(content) ?? "");
}

function readGiven(
  result: AgentResult | undefined,
): { readonly ok: true; readonly review: Review } | { readonly ok: false; readonly problem: string } {
  if (result?.status !== "completed") return { ok: false, problem: `the review ${result?.status ?? "failed"}` };
  const { content } = result;
  const given = typeof content === "string" ? withoutFence(content) : content;
  // The inner object alone says the same.
  const isInner = typeof given === "object" && given !== null && "gate" in given && !("review" in given);
  const read = readReview(isInner ? { review: given } : given);
  return read.ok ? { ok: true, review: read.value } : { ok: false, problem: read.error.message };
}

function withoutFence(text: string): string {
  return /^```\w*\n(.*)\n```$/s.exec(text.trim())?.[1] ?? text;
}
