// `tutti parse decision`: parses a manager's reply and shows its decision.
import { parseDecision, type ParsedDecision } from "../../protocol/decision/parse-decision.ts";
import { inputOf, runBatch } from "../batch.ts";
import { readText } from "../input.ts";
import type { InputOptions } from "../options.ts";
import { bold, dim, indent, writeLine } from "../terminal/output.ts";
import { printable } from "../terminal/printable.ts";
import { valueText } from "../terminal/value-text.ts";

export async function parseDecisionCommand(file: string | undefined, options: InputOptions): Promise<void> {
  const { limit } = options;
  if (options.jsonl === true) {
    await runBatch((record) => withoutReprompt(parseDecision(inputOf(record, limit))), { file, limit });
    return;
  }
  const parsed = parseDecision(await readText(file, limit));
  await writeLine(options.json === true ? JSON.stringify(withoutReprompt(parsed)) : show(parsed));
}

function withoutReprompt({ decision, recovered, dropped }: ParsedDecision): Record<string, unknown> {
  return { decision, recovered, dropped };
}

/** Without the control codes a model may have written; `--json` has every byte. */
function show({ decision, recovered, dropped, reprompt }: ParsedDecision): string {
  const lines = [`${bold(decision.action)}${recovered ? dim(" (recovered)") : ""}`];
  if (decision.action === "respond") lines.push(indent(printable(decision.message)));
  if (decision.action === "do_work") lines.push(indent(`refused; it wanted to: ${printable(decision.summary)}`));
  if (decision.action === "delegate") {
    decision.tasks.forEach(({ workdir, prompt, model, ...rest }, index) => {
      const more = Object.entries({ ...(model === null ? {} : { model }), ...rest });
      lines.push(`  ${index + 1}. ${bold(printable(workdir))}`, indent(indent(printable(prompt))));
      for (const [name, value] of more) lines.push(dim(printable(`    ${name}: ${valueText(value)}`)));
    });
  }
  for (const { what, reason } of dropped) lines.push(printable(`dropped: ${what}: ${reason}`));
  if (reprompt !== null) lines.push(dim(`the manager would be asked once more: ${printable(reprompt)}`));
  return lines.join("\n");
}
