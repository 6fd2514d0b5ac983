// The place of one node in the chaos: its process, which is killed, frozen and started again, and its link to the database.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";

import { killChild } from "../support/kill-process.ts";
import { NodeWord } from "./chaos-request.ts";
import type { DatabaseLink } from "./database-link.ts";

export interface SlotOptions {
  readonly name: string;
  readonly link: DatabaseLink;
  readonly schema: string;
  /** Where nodes keep their caches and tell of effects. */
  readonly folder: string;
  readonly leaseMs: number;
  readonly plant?: string | undefined;
}

const script = join(import.meta.dirname, "chaos-node.ts");
const relaunchMs = 300;
const stopMs = 20_000;

export class NodeSlot {
  readonly name: string;
  readonly link: DatabaseLink;
  readonly #options: SlotOptions;
  #child: ChildProcess | undefined;
  #wanted = false;
  #errors = "";
  /** Where it takes requests; undefined while it starts or is dead. */
  port: number | undefined;
  frozen = false;
  cut = false;
  /** Why it was fenced, each time; `named`: by the fence itself. */
  readonly fenced: { readonly named: boolean; readonly message: string }[] = [];
  readonly problems: string[] = [];

  constructor(options: SlotOptions) {
    this.#options = options;
    this.name = options.name;
    this.link = options.link;
  }

  /** Takes requests and is hit by nothing at the moment. */
  get isWell(): boolean {
    return this.port !== undefined && !this.frozen && !this.cut;
  }

  start(): void {
    this.#wanted = true;
    const { name, link, schema, folder, leaseMs, plant } = this.#options;
    const args = [script, name, link.url, schema, folder, String(leaseMs), ...(plant === undefined ? [] : [plant])];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
    this.#child = child;
    this.#errors = "";
    child.stderr.on("data", (chunk: Buffer) => (this.#errors = `${this.#errors}${chunk.toString()}`.slice(-2_000)));
    createInterface({ input: child.stdout }).on("line", (line) => this.#heard(child, line));
    void once(child, "exit").then(async ([code, signal]) => {
      const cameUp = this.port !== undefined;
      if (this.#child !== child) return;
      this.#child = undefined;
      this.port = undefined;
      if (!this.#wanted) return;
      // A node that cannot reach the database does not come up; whoever starts nodes tries again.
      if (cameUp) this.problems.push(`${name} ended by itself (${code ?? signal}): ${this.#errors}`);
      await pause(relaunchMs);
      if (this.#wanted) this.start();
    });
  }

  #heard(child: ChildProcess, line: string): void {
    const word = NodeWord.parse(JSON.parse(line));
    if (word.say === "fenced") this.fenced.push(word);
    else if (word.say === "left") this.problems.push(`${this.name} left the tree ${word.root}: ${word.message}`);
    else if (this.#child === child) this.port = word.port;
  }

  async kill(): Promise<void> {
    const child = this.#child;
    this.#wanted = false;
    this.#child = undefined;
    this.port = undefined;
    this.frozen = false;
    if (child !== undefined) await killChild(child);
  }

  freeze(): void {
    this.frozen = true;
    this.#child?.kill("SIGSTOP");
  }

  thaw(): void {
    this.frozen = false;
    this.#child?.kill("SIGCONT");
  }

  async stop(): Promise<void> {
    const child = this.#child;
    this.#wanted = false;
    if (child === undefined) return;
    const exited = once(child, "exit").then(([code, signal]) => String(code ?? signal));
    child.kill("SIGTERM");
    const ended = await Promise.race([exited, pause(stopMs, "late", { ref: false })]);
    if (ended !== "0") this.problems.push(`${this.name} did not stop as it should (${ended}): ${this.#errors}`);
    await this.kill();
  }
}
