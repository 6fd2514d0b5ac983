// The loops of the crash test: one for each way a task may stand when the process is killed.

import { setTimeout as pause } from "node:timers/promises";

import { z } from "zod";

import { TuttiError } from "../../src/protocol/error.ts";
import { messageText, userMessage } from "../../src/protocol/task/message.ts";
import type { Durable, NewTask, Runner } from "../../src/ports.ts";
import { task } from "../support/engine-kit.ts";
import { agentFile, agentResult, agentTasks } from "./crash-agents.ts";

type Loop = (durable: Durable) => Promise<unknown>;
/** Tells the outside that a step's body runs; the key names the step. */
export type Effect = (key: string, repeatable: boolean) => void;

const text = z.string();
const forever = 60 * 60 * 1000;

/** Trees the driver starts in turn; the other loops are their children and later runs. */
export const roots = [
  "nested",
  "parallel",
  "asking",
  "choosing",
  "handing",
  "detaching",
  "sleeping",
  "mailing",
  "inbox",
  "canceling",
  "doomed",
  "failing",
  "saving",
  "retried",
  "refused",
  "agents",
] as const;

export const mails = ["m0", "m1", "m2"] as const;

/** What a root of this kind is started with. */
export function rootTask(agent: string): NewTask {
  return agent === "agents" ? task(agent, { input: agentFile }) : task(agent);
}

export function runnerWith(effect: Effect): Runner {
  const loops = loopsWith(effect);
  return (durable) => {
    const loop = loops[durable.agent];
    if (loop === undefined) throw new Error(`no loop for ${durable.agent}`);
    return loop(durable);
  };
}

function loopsWith(effect: Effect): Record<string, Loop> {
  /** Runs a step of which the outside keeps a trace; one whose outcome is not known says so. */
  const act = async (durable: Durable, key: string, repeatable = false): Promise<string> => {
    try {
      return await durable.step(key, { repeatable, schema: text, input: key }, async (context) => {
        effect(context.key, repeatable);
        if (key.length % 2 === 0) await pause(1);
        return `did ${key}`;
      });
    } catch (thrown) {
      if (thrown instanceof TuttiError && thrown.code === "outcome_unknown") return `did ${key}`;
      throw thrown;
    }
  };
  const joined = async (durable: Durable, key: string, children: readonly NewTask[]): Promise<unknown[]> => {
    const results = await durable.join(await durable.spawn(key, children));
    return results.map((result) => (result.status === "completed" ? result.content : result.status));
  };
  const ask = { kind: "question", question: "what now?" } as const;

  return {
    leaf: async (d) => [await act(d, "read", true), await act(d, "write")],
    branch: async (d) => {
      const below = await joined(d, "leaves", [task("leaf"), task("leaf")]);
      return [await act(d, "sum"), below.length];
    },
    nested: async (d) => {
      const all = await joined(d, "branches", [task("branch"), task("leaf"), task("branch")]);
      await act(d, "report");
      return all;
    },
    parallel: async (d) => {
      const chain = async (name: string): Promise<string[]> => [
        await act(d, `${name}.one`),
        await act(d, `${name}.second`, true),
        await act(d, `${name}.third`),
      ];
      return (await Promise.all(["a", "bb", "c"].map(chain))).flat();
    },
    asking: async (d) => {
      await act(d, "prepare");
      const reply = await d.wait("ask", { ask, within: forever, schema: z.unknown() });
      return ["value" in reply ? reply.value : "expired", await act(d, "use")];
    },
    choosing: async (d) => {
      const waits = [
        await d.open("first", { ask, within: forever, schema: z.unknown() }),
        await d.open("second", { ask, within: forever, schema: z.unknown() }),
      ];
      const chosen = await d.select("either", [...waits.map((wait) => ({ wait })), { after: forever }]);
      await act(d, "chosen");
      for (const [index, wait] of waits.entries()) if (index !== chosen.index) await d.withdraw(`drop${index}`, wait);
      return [chosen.index < 2, await act(d, "after")];
    },
    handing: async (d) => {
      await act(d, "begin");
      return d.handover("to", { agent: "handed", input: [d.run] });
    },
    handed: async (d) => {
      await act(d, "begin");
      if (d.run < 4) return d.handover("to", { agent: "handed", input: [d.run] });
      return [d.run, d.input];
    },
    detaching: async (d) => {
      await d.spawn("away", [task("leaf", { detached: true }), task("branch", { detached: true })]);
      return act(d, "left");
    },
    sleeping: async (d) => {
      await d.sleep("nap", 20);
      const [child] = await d.spawn("child", [task("leaf")]);
      await act(d, "awake");
      const first = await d.select("race", [{ after: 15 }, ...(child === undefined ? [] : [{ child }])]);
      await act(d, "raced");
      const again = await d.select("again", [{ after: forever }, ...(child === undefined ? [] : [{ child }])]);
      return [first.kind.length > 0, again.kind];
    },
    mailing: async (d) => {
      const [child] = await d.spawn("child", [task("listening")]);
      if (child === undefined) return "no child";
      for (const mail of mails) await d.send(mail, child, userMessage(mail));
      await act(d, "sent");
      const [result] = await d.join([child]);
      return result?.content;
    },
    listening: async (d) => {
      const got: string[] = [];
      for (const index of mails.keys()) {
        const mail = await d.receive(`mail${index}`, { block: true });
        got.push(mail === undefined ? "none" : messageText(mail));
        await act(d, `heard${index}`);
      }
      return got;
    },
    inbox: async (d) => {
      const got: string[] = [];
      for (let index = 0; new Set(got).size < mails.length; index += 1) {
        const mail = await d.receive(`mail${index}`, { block: true });
        if (mail !== undefined) got.push(messageText(mail));
      }
      await act(d, "read");
      return [...new Set(got)].toSorted();
    },
    endless: async (d) => {
      await d.spawn("more", d.input === "leaf" ? [] : [task("endless", { input: "leaf" })]);
      for (let turn = 0; ; turn += 1) {
        await act(d, `turn${turn}`, turn % 2 === 0);
        await d.sleep(`pause${turn}`, 10);
      }
    },
    canceling: async (d) => {
      const ids = await d.spawn("children", [task("endless"), task("leaf")]);
      await d.sleep("watch", 10);
      await act(d, "enough");
      for (const [index, id] of ids.slice(0, 1).entries()) await d.cancel(`cancel${index}`, id);
      return (await d.join(ids)).map((result) => result.status);
    },
    doomed: async (d) => joined(d, "children", [task("endless"), task("endless")]),
    breaking: async () => {
      throw new TuttiError("invalid_input", "made to fail");
    },
    failing: async (d) => {
      const said = await d
        .step("break", { repeatable: false, schema: text }, (context): string => {
          effect(context.key, false);
          throw new TuttiError("not_found", "nothing there");
        })
        .catch((thrown: unknown) => (thrown instanceof TuttiError ? thrown.code : "other"));
      const below = await joined(d, "children", [task("breaking"), task("leaf")]);
      await act(d, "on");
      return [said === "step_failed" || said === "outcome_unknown", below[0]];
    },
    saving: async (d) => {
      const found = await d.restore(z.object({ turn: z.number() }));
      for (let turn = found?.state.turn ?? 0; turn < 6; turn += 1) {
        d.say(`say${turn}`, userMessage(`turn ${turn}`));
        await act(d, `work${turn}`, turn % 2 === 1);
        d.save(`save${turn}`, { turn: turn + 1 });
      }
      await act(d, "last");
      return "saved";
    },
    retried: async (d) => {
      await act(d, "try");
      if (d.attempt === 1) await d.sleep("until given up", forever);
      return d.attempt > 1;
    },
    refused: async (d) => {
      const trying = (key: string, children: readonly NewTask[]): Promise<string> =>
        d.spawn(key, children, "shared by all").then(
          () => "made",
          (thrown: unknown) => (thrown instanceof TuttiError ? thrown.code : "other"),
        );
      const unknown = { ...task("leaf"), runner: { kind: "nobody", config: {} } };
      const first = await trying("unknown", [task("leaf"), unknown]);
      await act(d, "anyway");
      const many = Array.from({ length: 200 }, () => task("leaf"));
      const second = await trying("many", many);
      await act(d, "still");
      return [first, second];
    },
    agents: async (d) => joined(d, "team", agentTasks),
  };
}

/** What the root of each kind must end with, whatever happened on the way; undefined where it depends on an outside answer. */
export const expected: Readonly<Record<(typeof roots)[number], unknown>> = {
  nested: [
    ["did sum", 2],
    ["did read", "did write"],
    ["did sum", 2],
  ],
  parallel: ["a", "bb", "c"].flatMap((name) => [`did ${name}.one`, `did ${name}.second`, `did ${name}.third`]),
  asking: undefined,
  choosing: [true, "did after"],
  handing: [4, [3]],
  detaching: "did left",
  sleeping: [true, "child"],
  mailing: [...mails],
  inbox: [...mails],
  canceling: ["canceled", "completed"],
  doomed: undefined,
  failing: [true, "failed"],
  saving: "saved",
  retried: true,
  refused: ["not_found", "over_budget"],
  agents: [agentResult, agentResult],
};
