// What tests of commands share when they need a daemon: starting one, and a task that waits for an answer.
import assert from "node:assert/strict";
import { join } from "node:path";

import { z } from "zod";

import { OpenAsk, OpenWait } from "../../src/protocol/api/task-shapes.ts";
import type { Bench } from "./cli-process.ts";

export const example = (name: string): string => join("examples", "invocations", `${name}.json`);
const Up = z.object({ url: z.string(), pid: z.number(), existed: z.boolean(), resumed: z.number() });
const Open = z.object({ asks: z.array(OpenAsk), waits: z.array(OpenWait) });

/** At a port nobody had before: a connection kept from an earlier test must not be taken for one to this daemon. */
const anywhere = ["--port", "0"];

export function up(b: Bench, where: readonly string[] = anywhere): z.infer<typeof Up> {
  const { status, out, err } = b.run("up", "--detach", "--json", ...where);
  assert.equal(status, 0, err);
  return Up.parse(JSON.parse(out));
}

export const openIn = (b: Bench): z.infer<typeof Open> => Open.parse(JSON.parse(b.run("asks", "--json").out));

/** Starts it and leaves it; gives its id once something is asked. */
export async function waiting(b: Bench, name: string): Promise<{ task: string; ask: string }> {
  const [task = ""] = b.run("invoke", "--detach", "--new", example(name)).out.split("\n");
  const following = b.start("logs", "-f", task);
  const [, ask = ""] = await following.said(/(?:ask\.raised|wait\.opened) +(ask_\w+)/);
  following.child.kill("SIGKILL");
  return { task, ask };
}
