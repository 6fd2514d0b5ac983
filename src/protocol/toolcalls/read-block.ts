// Reads one fenced block into calls, faults and violations, or decides that it is data.
import { addCall, addFault, addViolation, type Findings } from "./findings.ts";
import type { BlockEnd, Host } from "./fences.ts";
import { addDialectFault, keepDialectCalls, noteUnregistered } from "./dialects/keep-calls.ts";
import { cutFault } from "./dialects/dialect-reading.ts";
import { readCodeBody } from "./dialects/read-pythonic.ts";
import { hasArgs, readCall, type CallReading, type CallRules } from "./read-call.ts";
import { readObjects, type BodyReading } from "./read-objects.ts";
import type { JsonObject } from "./tool-call.ts";

export interface Block {
  readonly opener: Host;
  readonly openerAt: number;
  readonly bodyStart: number;
  readonly bodyEnd: number;
  readonly ended: BlockEnd["ended"];
}

export interface BlockRules extends CallRules {
  /** The provider says the reply was cut off: an unclosed block may lack its end. */
  readonly cut: boolean;
}

export interface BlockReading {
  /** `data`: JSON shown to a person; `broken`: a json fence that holds no JSON. */
  readonly as: "call" | "data" | "broken";
  /** Position after the last complete object. */
  readonly end: number;
}

export function readBlock(text: string, block: Block, rules: BlockRules & { findings: Findings }): BlockReading {
  const { findings, dialect } = rules;
  const code =
    dialect.allows.modelDialects && block.opener.info === "tool_code" ? readCode(text, block, rules) : undefined;
  if (code !== undefined) return code;
  const decided = block.opener.form !== "json" || dialect.allows.anyJsonBlock;
  let asData = false;
  let objects = 0;
  if (decided) noteOpener(block, findings);
  const cutOff = rules.cut && block.ended === "eof";

  const body = { from: block.bodyStart, to: block.bodyEnd, several: dialect.allows.severalObjects };
  const reading = readObjects(text, body, {
    object(value, at, fault) {
      objects += 1;
      if (asData) return;
      const call = readCall(value, rules);
      if (!decided && objects === 1) {
        const verdict = judgeData(value, call, rules);
        asData = verdict !== "call";
        if (verdict === "unregistered") noteUnregistered(call.name, findings);
        if (asData) return;
        noteOpener(block, findings);
      }
      findings.complete = true;
      if (cutOff) {
        if (objects === 1) addFault(findings, { code: "cut_call", at: block.bodyEnd, lineAt: block.openerAt });
      } else if (fault !== undefined) addFault(findings, fault);
      else keep(call, at, findings);
    },
  });
  if (!decided && (asData || reading.objects === 0)) {
    return { as: asData && reading.fault === undefined ? "data" : "broken", end: reading.end };
  }
  if (reading.objects > 1)
    addViolation(findings, "several_objects", "A block holds one call object; give each call its own block.");
  noteFault(reading, block, { findings, cutOff });
  return { as: "call", end: reading.end };
}

/** A `tool_code` block that holds Python instead of JSON, as Gemma writes it; undefined if it holds none. */
function readCode(text: string, block: Block, rules: BlockRules & { findings: Findings }): BlockReading | undefined {
  const { findings } = rules;
  const cut = rules.cut && block.ended === "eof";
  const calls = readCodeBody(text, { from: block.bodyStart, to: block.bodyEnd }, rules);
  if (calls === undefined) return undefined;
  findings.complete = true;
  noteOpener(block, findings);
  if (calls.ok && !cut) keepDialectCalls(findings, { dialect: "gemma", calls: calls.value }, rules);
  else {
    const fault = calls.ok ? { at: block.bodyEnd, detail: cutFault } : calls.fault;
    addDialectFault(findings, { dialect: "gemma", at: fault.at, detail: fault.detail, lineAt: block.openerAt });
  }
  return { as: "call", end: calls.ok ? calls.end : block.bodyEnd };
}

export function keep(call: CallReading, at: number, findings: Findings): void {
  if (!call.ok) {
    addFault(findings, { code: call.code, at, ...(call.detail === undefined ? {} : { detail: call.detail }) });
    return;
  }
  addCall(findings, call.name, call.args);
  for (const { kind, message } of call.violations) addViolation(findings, kind, message);
}

function noteFault(
  { fault, objects }: BodyReading,
  block: Block,
  { findings, cutOff }: { findings: Findings; cutOff: boolean },
): void {
  if (fault === undefined || (cutOff && objects > 0)) return;
  if (fault.code === "unterminated") addFault(findings, { ...fault, lineAt: block.openerAt });
  else addFault(findings, fault);
}

function noteOpener({ opener, ended }: Block, findings: Findings): void {
  if (opener.form !== "canonical") {
    const kind = opener.form === "json" ? "json_fence" : "drifted_fence";
    const written = `${opener.marker}${opener.info}`;
    addViolation(findings, kind, `A call came in a ${written} fence; calls belong in a \`\`\`tool fence.`);
  }
  if (ended === "opener") {
    addViolation(
      findings,
      "opener_closed_block",
      "A block was not closed before the next one began; close it with a line that is exactly ```.",
    );
  }
}

/** Whether an object that may be plain data is a call of a registered tool, a call of another name, or data. */
export function judgeData(value: JsonObject, call: CallReading, rules: CallRules): "call" | "unregistered" | "data" {
  if (call.name !== undefined && (rules.tools === undefined || rules.tools.has(call.name))) return "call";
  return call.ok && hasArgs(value, rules.dialect) ? "unregistered" : "data";
}
