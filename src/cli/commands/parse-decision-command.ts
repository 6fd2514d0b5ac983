// `tutti parse decision`: parses a manager's reply and shows its decision.
import { parseDecision, type ParsedDecision } from "../../protocol/decision/parse-decision.ts";
import { inputOf, runBatch } from "../batch.ts";
import { readText } from "../input.ts";
import type { InputOptions } from "../options.ts";
import { indent } from "../terminal/output.ts";
import { writeJson, writeLine } from "../terminal/screen.ts";
import { bold, dim } from "../terminal/style.ts";
import { valueText } from "../terminal/value-text.ts";

export async function parseDecisionCommand(file: string | undefined, options: InputOptions): Promise<void> {
  const { limit } = options;
  if (options.jsonl === true) {
    await runBatch((record) => withoutReprompt(parseDecision(inputOf(record, limit))), { file, limit });
    return;
  }
  const parsed = parseDecision(await readText(file, limit));
  await (options.json === true ? writeJson(withoutReprompt(parsed)) : writeLine(show(parsed)));
}

function withoutReprompt({ decision, recovered, dropped }: ParsedDecision): Record<string, unknown> {
  return { decision, recovered, dropped };
}

function show({ decision, recovered, dropped, reprompt }: ParsedDecision): string {
  const lines = [`${bold(decision.action)}${recovered ? dim(" (recovered)") : ""}`];
  if (decision.action === "respond") lines.push(indent(decision.message));
  if (decision.action === "do_work") lines.push(indent(`refused; it wanted to: ${decision.summary}`));
  if (decision.action === "delegate") {
    decision.tasks.forEach(({ workdir, prompt, model, ...rest }, index) => {
      const more = Object.entries({ ...(model === null ? {} : { model }), ...rest });
      lines.push(`  ${index + 1}. ${bold(workdir)}`, indent(indent(prompt)));
      for (const [name, value] of more) lines.push(dim(`    ${name}: ${valueText(value)}`));
    });
  }
  for (const { what, reason } of dropped) lines.push(`dropped: ${what}: ${reason}`);
  if (reprompt !== null) lines.push(dim(`the manager would be asked once more: ${reprompt}`));
  return lines.join("\n");
}
