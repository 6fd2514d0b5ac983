// Reads a reply that is nothing but one JSON object: a call without a fence, or data.
import { addFault, addViolation, type Findings } from "./findings.ts";
import { hasArgs, readCall } from "./read-call.ts";
import { noteUnregistered } from "./dialects/keep-calls.ts";
import { judgeData, keep, type BlockRules } from "./read-block.ts";
import { readObjects } from "./read-objects.ts";

/** `data` stays prose. */
export function readBareCall(
  text: string,
  from: number,
  rules: BlockRules & { findings: Findings },
): "call" | "data" | "not_one_object" {
  const { findings } = rules;
  let verdict: "call" | "data" = "data";
  const reading = readObjects(
    text,
    { from, to: text.length, several: false },
    {
      object(value, at, fault) {
        const call = readCall(value, rules);
        const judged = judgeData(value, call, rules);
        if (judged === "unregistered") noteUnregistered(call.name, findings);
        // Without registered tools, only an object with a name and arguments is taken for a call.
        const certain = rules.tools !== undefined || (call.ok && hasArgs(value, rules.dialect));
        if (judged !== "call" || !certain) return;
        verdict = "call";
        findings.complete = true;
        addViolation(findings, "bare_call", "A call came without a fence; calls belong in a ```tool fence.");
        if (rules.cut) addFault(findings, { code: "cut_call", at: text.length, lineAt: at });
        else if (fault !== undefined) addFault(findings, fault);
        else keep(call, at, findings);
      },
    },
  );
  return reading.objects === 1 && reading.fault === undefined ? verdict : "not_one_object";
}
