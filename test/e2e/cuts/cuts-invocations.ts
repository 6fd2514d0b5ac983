// The invocations that the cuts start: each kind uses other parts of the daemon and knows what its result must be.

import type { CutsRun } from "./cuts-run.ts";

export const roles = { builder: "builder", gate: "gate", senior: "senior" } as const;
/** The gate refuses agents of this name, and says so. */
export const refusedAgent = "stopper";
export const refusal = "not today";

interface Target {
  readonly agent: string;
  readonly text: string;
  readonly operator?: boolean;
}

function file(targets: readonly Target[], more: Readonly<Record<string, unknown>> = {}): unknown {
  const executor = {
    kind: "force",
    type: "remote",
    // The operator's word on a posted result may be lost with its connection; it is not waited for long.
    runner: { kind: "operator", config: { operator: roles.builder, ack_ms: 1_500 } },
  };
  return {
    invocation: {
      targets: targets.map(({ agent, text, operator }) => ({
        agent: { type: "named", agent_id: agent },
        message: { role: "user", parts: [{ part_type: "text", data: text }] },
        ...(operator === true ? { executor } : {}),
      })),
      join: targets.length > 1 ? "all" : "single",
    },
    agents: {
      asker: { instructions: "You ask.", tools: ["ask"] },
      careful: { instructions: "You ask whether you may.", tools: ["ask"] },
      looker: { instructions: "You look.", tools: [] },
      talker: { instructions: "You talk.", tools: ["echo"] },
      sleeper: { instructions: "You sleep." },
      builder: { instructions: "You are worked for by an operator." },
      [refusedAgent]: { instructions: "You are never started." },
    },
    script: { rules },
    ...more,
  };
}

const rules = [
  { agent: "asker", turn: 0, ask: { question: "Which one, {{user}}?" } },
  { agent: "asker", last: { regex: '"value":"([\\w-]+)"' }, final: "answered {{1}}" },
  { agent: "careful", turn: 0, ask: { question: "May I, {{user}}?", kind: "approval" } },
  { agent: "careful", last: '"approved":true', final: "yes" },
  { agent: "careful", final: "no" },
  { agent: "looker", turn: 0, call: [{ tool: "look", args: { at: "it" } }] },
  { agent: "looker", last: { regex: "(seen-\\d+)" }, final: "saw {{1}}" },
  ...Array.from({ length: 4 }, (_, turn) => ({
    agent: "talker",
    turn,
    delay_ms: 20,
    call: [{ tool: "echo", args: { text: `part ${turn}` } }],
  })),
  { agent: "talker", final: "talked" },
  { agent: "sleeper", delay_ms: 600_000, final: "slept" },
  { say: "done" },
];

const external = { external_tools: [{ name: "look", description: "Looks." }] };
const everybody = { operators: { gate: roles.gate, senior: roles.senior } };

const kinds: Readonly<Record<string, (name: string) => unknown>> = {
  question: (text) => file([{ agent: "asker", text }]),
  approval: (text) => file([{ agent: "careful", text }]),
  tool: (text) => file([{ agent: "looker", text }], external),
  talk: (text) => file([{ agent: "talker", text }]),
  sleep: (text) => file([{ agent: "sleeper", text }]),
  spawn: (text) => file([{ agent: "builder", text, operator: true }]),
  gated: (text) => file([{ agent: "talker", text }], { operators: { gate: roles.gate } }),
  refused: (text) => file([{ agent: refusedAgent, text }], { operators: { gate: roles.gate } }),
  senior: (text) => file([{ agent: "asker", text }], { operators: { senior: roles.senior } }),
  together: (text) =>
    file(
      [
        { agent: "asker", text },
        { agent: "builder", text, operator: true },
        { agent: refusedAgent, text },
        { agent: "looker", text },
        { agent: "builder", text, operator: true },
      ],
      { ...everybody, ...external },
    ),
};

const often: [string, ...string[]] = ["spawn", "together", "spawn", "senior", ...Object.keys(kinds)];

/** How many invocations at the beginning use every part of the daemon, so that a short run on a slow machine has met them all. */
const firstOfAll = 4;

export function newWork(run: CutsRun): { readonly kind: string; readonly body: unknown } {
  const kind = run.ledger.started.size < firstOfAll ? "together" : run.oneOf(often);
  return { kind, body: kinds[kind]?.(run.name(kind)) };
}
