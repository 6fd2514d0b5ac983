// An invocation of two agents: a lead that does one thing and repeats what came back, and a worker it may call.

import { named, single } from "../../src/protocol/invocation/invocation-builders.ts";
import type { World } from "./agent-kit.ts";

export const worker = { instructions: "You work." };

/** A lead that says something, then does `action`, then repeats what came back. */
export function led(action: object, more: object = {}) {
  const rules: object[] = [
    { agent: "lead", turn: 0, say: "The plan is blue.", ...action },
    { agent: "lead", say: "{{last}}" },
    { agent: "worker", say: "done: {{user}}" },
  ];
  return {
    invocation: single(named("lead", "go")),
    agents: { lead: { instructions: "You lead.", ...more }, worker },
    script: { rules },
  };
}

export const leadOf = (w: World, root: string): string => w.tree(root)[1]?.id ?? "";

export const person = { kind: "person" as const, name: "ana" };
