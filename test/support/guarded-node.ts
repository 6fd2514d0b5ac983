// A process that plays a node: it renews its lease at a database that always agrees, and starts what it is told to under a watchdog.

import { spawn } from "node:child_process";

import { z } from "zod";

import { elapsedMs } from "../../src/cluster/elapsed-clock.ts";
import { startWatchdog } from "../../src/cluster/watchdog.ts";
import { type HeldProcess, startHeld } from "../../src/runner/shared/process/held-process.ts";

export const NodeOrder = z.discriminatedUnion("do", [
  /** No renewal from now on, as if the database could not be reached. */
  z.object({ do: z.literal("mute") }),
  z.object({ do: z.literal("renew") }),
  /** Starts a shell, held, and releases it when it is guarded. */
  z.object({ do: z.literal("start"), step: z.string(), script: z.string() }),
  /** Starts a shell that is held and never guarded or released. */
  z.object({ do: z.literal("hold"), step: z.string() }),
  /** Starts a program as git is started: not held and not noted. */
  z.object({ do: z.literal("spawn"), script: z.string() }),
  z.object({ do: z.literal("close") }),
]);
export type NodeOrder = z.infer<typeof NodeOrder>;

export const NodeNews = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("up"), watchdog: z.int() }),
  z.object({ kind: z.literal("renewed"), until: z.number(), watchdog: z.int().optional() }),
  z.object({ kind: z.literal("started"), step: z.string(), pid: z.int() }),
  z.object({ kind: z.literal("spawned"), pid: z.int() }),
  z.object({ kind: z.literal("ended"), steps: z.array(z.string()), left: z.array(z.int()) }),
  z.object({ kind: z.literal("problem"), message: z.string() }),
  z.object({ kind: z.literal("closed") }),
]);
export type NodeNews = z.infer<typeof NodeNews>;

if (process.argv[1] === import.meta.filename) await play(Number(process.argv[2]));

async function play(leaseMs: number): Promise<void> {
  const tell = (news: NodeNews): void => void process.send?.(news);
  const held: HeldProcess[] = [];
  const watchdog = await startWatchdog({
    leaseMs,
    onEnded: ({ steps, left }) => tell({ kind: "ended", steps: [...steps], left: [...left] }),
    onProblem: ({ message }) => tell({ kind: "problem", message }),
  });
  const renew = (): void => {
    const until = elapsedMs() + leaseMs;
    watchdog.renewed(until);
    tell({ kind: "renewed", until, ...(watchdog.pid === undefined ? {} : { watchdog: watchdog.pid }) });
  };
  renew();
  let renewing: NodeJS.Timeout | undefined = setInterval(renew, leaseMs / 5);
  const start = async (step: string, script: string, release: boolean): Promise<void> => {
    const env = { PATH: process.env["PATH"] ?? "/usr/bin:/bin" };
    const process_ = await startHeld({ program: { argv: ["/bin/sh", "-c", script], env }, cwd: "/", step });
    held.push(process_);
    if (release) {
      await watchdog.guard(process_.note);
      process_.release();
    }
    tell({ kind: "started", step, pid: process_.note.pid });
  };
  const carryOut = async (order: NodeOrder): Promise<void> => {
    switch (order.do) {
      case "mute":
        clearInterval(renewing);
        renewing = undefined;
        return;
      case "renew":
        renew();
        renewing ??= setInterval(renew, leaseMs / 5);
        return;
      case "start":
        return start(order.step, order.script, true);
      case "hold":
        return start(order.step, "sleep 60", false);
      case "spawn": {
        const child = spawn("/bin/sh", ["-c", order.script], { detached: true, stdio: "ignore" });
        return tell({ kind: "spawned", pid: child.pid ?? 0 });
      }
      case "close":
        await watchdog.close();
        tell({ kind: "closed" });
    }
  };
  process.on("message", (message) => {
    void carryOut(NodeOrder.parse(message)).catch((thrown: unknown) =>
      tell({ kind: "problem", message: String(thrown) }),
    );
  });
  process.on("disconnect", () => process.exit(0));
  tell({ kind: "up", watchdog: watchdog.pid ?? 0 });
}
