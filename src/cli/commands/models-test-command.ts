// `tutti models test`: makes a few real calls of a model and prints what works and what it cost.
import { isRehearsalName } from "../../core/rehearsal-name.ts";
import type { Host } from "../../host/host.ts";
import type { TriedView } from "../../host/project.ts";
import { TuttiError } from "../../protocol/error.ts";
import { givenFolder } from "../given-folder.ts";
import { stateFolder } from "../state-folder.ts";
import { warn } from "../terminal/output.ts";
import { note, writeJson, writeLine } from "../terminal/screen.ts";
import { dim, paint } from "../terminal/style.ts";
import { money } from "../terminal/units.ts";

export interface ModelsTestOptions {
  readonly cwd?: string;
  readonly state?: string;
  readonly json?: boolean;
}

/** What an agent cannot do without. */
const needed = new Set(["reply", "tool"]);

export async function modelsTestCommand(host: Host, name: string, options: ModelsTestOptions): Promise<void> {
  const project = await host.openProject(givenFolder(options.cwd), { state: stateFolder(options.state) });
  const stop = new AbortController();
  const onInterrupt = (): void => stop.abort(new TuttiError("canceled", "the test was stopped"));
  process.once("SIGINT", onInterrupt);
  if (isRehearsalName(name) && options.json !== true) note(dim("a rehearsal: no model is called"));
  try {
    const tried = await project.tryModel(name, {
      signal: stop.signal,
      onProblem: warn,
      onTried: async (each) => {
        if (options.json !== true) await writeLine(lineOf(each));
      },
    });
    if (options.json === true) await writeJson({ model: name, parts: tried, ...totalOf(tried) });
    else await writeLine(totalLine(tried));
    const failed = tried.filter(({ part, outcome }) => needed.has(part) && outcome === "fails");
    if (failed.length > 0) {
      const what = failed.map(({ part }) => part).join(" and ");
      throw new TuttiError("task_failed", `${name} cannot be used for agents: ${what} failed`);
    }
  } finally {
    process.removeListener("SIGINT", onInterrupt);
  }
}

function lineOf({ part, outcome, said, took_ms, tokens, money_micro_usd }: TriedView): string {
  const marks = { works: paint("green", "✓"), absent: paint("yellow", "–"), fails: paint("red", "✗") };
  const cost = money_micro_usd === null ? "price unknown" : money(money_micro_usd);
  // A call that failed at once has used nothing.
  const spent = tokens === 0 ? "" : `, ${tokens} tokens, ${cost}`;
  return `${marks[outcome]} ${part.padEnd(10)}  ${said} ${dim(`(${(took_ms / 1000).toFixed(1)} s${spent})`)}`;
}

function totalOf(tried: readonly TriedView[]): { readonly tokens: number; readonly money_micro_usd: number | null } {
  const isKnown = tried.every(({ money_micro_usd }) => money_micro_usd !== null);
  const sum = tried.reduce((all, { money_micro_usd }) => all + (money_micro_usd ?? 0), 0);
  return { tokens: tried.reduce((all, { tokens }) => all + tokens, 0), money_micro_usd: isKnown ? sum : null };
}

function totalLine(tried: readonly TriedView[]): string {
  const { tokens, money_micro_usd } = totalOf(tried);
  if (tokens === 0) return "it cost nothing";
  if (money_micro_usd !== null) return `it cost ${money(money_micro_usd)}, for ${tokens} tokens`;
  return `it used ${tokens} tokens; what they cost is unknown, because the model has no price (\`prices\` in the config sets one)`;
}
