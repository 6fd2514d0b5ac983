// The config that `tutti init` writes: JSON with comments that say what each part is for.

import type { Proposal, ProposedSetup, ProposedStep } from "./propose-checks.ts";

export interface ProposedModels {
  /** The default model to set; undefined when a key decides. */
  readonly standard: string | undefined;
  /** Servers that were found on this machine and that Tutti does not know by itself. */
  readonly providers: readonly { readonly name: string; readonly base_url: string }[];
  /** Whether what was found is needed, because there is no other model. */
  readonly needed: boolean;
}

const head = `// What Tutti needs to know of this project. It counts as you trusted it: after an edit, run \`tutti trust\`.
// Every part may be left out. Keys of model providers do not belong here: keep them with \`tutti models login\`.`;

export function projectConfigText({ checks, setup }: ProposedSetup, models: ProposedModels): string {
  const parts = [
    part(
      `Checks prove that a task is done. They run on a fresh checkout of its result, confined, and nobody is asked. An item
is {"name", "run", "cwd", "network", "timeout_ms"}; \`run\` is the program and its arguments, and no shell reads them.`,
      `"checks": ${list(checks.map((check) => [check, { name: check.name, run: check.run }]))}`,
    ),
    part(
      `How a new workspace is made ready for a session, for example by installing packages. What a step makes is kept as long
as its lock files stay the same.`,
      `"workspaces": ${block([`"setup": ${list(setup.map((step) => [step, stepOf(step)]))}`])}`,
    ),
    ...modelsPart(models),
  ];
  return `${head}\n{\n${parts.map(indent).join(",\n\n")}\n}\n`;
}

function modelsPart({ standard, providers, needed }: ProposedModels): string[] {
  if (standard === undefined && providers.length === 0) return [];
  const lines = [
    ...(standard === undefined ? [] : [`"default": ${JSON.stringify(standard)}`]),
    ...(providers.length === 0 ? [] : [`"providers": ${block(providers.map(providerLine))}`]),
  ];
  const text = `"models": ${block(lines)}`;
  return needed ? [part("Servers with models that run on this machine.", text)] : [];
}

function providerLine({ name, base_url }: ProposedModels["providers"][number]): string {
  return `${JSON.stringify(name)}: ${inOneLine({ kind: "openai-compatible", base_url, key_env: null })}`;
}

function part(about: string, text: string): string {
  return `${about.replaceAll(/^/gm, "// ")}\n${text}`;
}

function block(lines: readonly string[]): string {
  return `{\n${lines.map(indent).join(",\n")}\n}`;
}

/** An item about which there is a doubt is a comment. */
function list(items: readonly (readonly [Proposal, object])[]): string {
  if (items.length === 0) return "[]";
  const last = items.findLastIndex(([{ doubt }]) => doubt === undefined);
  const lines = items.map(([{ from, doubt }, value], index) => {
    const line = inOneLine(value);
    if (doubt !== undefined) return `// From ${oneLine(from)}, but ${doubt}.\n// ${line},`;
    return `// From ${oneLine(from)}.\n${line}${index < last ? "," : ""}`;
  });
  return `[\n${lines.map(indent).join("\n")}\n]`;
}

function stepOf({ run, from, makes }: ProposedStep): object {
  return { command: run, network: true, ...(makes === undefined ? {} : { lock: [from], makes: [makes] }) };
}

function inOneLine(value: object): string {
  return JSON.stringify(value, null, 1).replaceAll(/\n\s*/g, " ").replaceAll("[ ", "[").replaceAll(" ]", "]");
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ");
}

function indent(text: string): string {
  return text.replaceAll(/^(?=.)/gm, "  ");
}
