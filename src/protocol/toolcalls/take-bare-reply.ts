// Takes a reply that is nothing but calls without a fence: one JSON object, several, or a list of calls.
import { callObjectsAt } from "./dialects/dialect-reading.ts";
import { addDialectFault, keepDialectCalls } from "./dialects/keep-calls.ts";
import { takePythonList } from "./dialects/take-dialect.ts";
import { readBareCall } from "./read-bare-call.ts";
import { dialectsOf, goOn, type ReplyScan } from "./reply-scan.ts";
import { show } from "./visible-text.ts";
import { skipSpace } from "../white-space.ts";

/** Each try reads to the end of the reply, so their number is limited. */
const maxBareTries = 4;

/** A reply that is one JSON object is taken whole, so that the strings in it stay untouched. */
export function takeBareReply(scan: ReplyScan): void {
  const { text, rules, findings, visible } = scan;
  if (!rules.dialect.allows.bareCall || scan.bareTries >= maxBareTries) return;
  if (visible.any || findings.complete || findings.faults.length > 0) return;
  const start = skipSpace(text, scan.at, text.length);
  const first = text.charCodeAt(start);
  if (first !== 0x7b && first !== 0x5b) return;
  scan.bareTries += 1;
  if (first === 0x5b) {
    if (!takePythonList(scan, start)) takeObjects(scan, start);
    return;
  }
  const reading = readBareCall(text, start, rules);
  if (reading === "not_one_object") {
    takeObjects(scan, start);
    return;
  }
  if (reading === "data") show(visible, text.length);
  goOn(scan, text.length, true);
}

const firstObject =
  /[[\s]*\{\s*(?:"type"\s*:\s*"function"\s*,\s*)?"name"\s*:\s*"([^"\\\n]{1,200})"\s*,\s*"(?:parameters|arguments|args)"\s*:/y;

/** Several call objects, with semicolons between them as Llama writes them or in a list, or one that is cut. */
function takeObjects(scan: ReplyScan, at: number): void {
  const { text, rules, findings } = scan;
  const dialects = dialectsOf(scan);
  if (dialects === undefined || rules.tools === undefined) return;
  firstObject.lastIndex = at;
  const name = firstObject.exec(text)?.[1];
  if (name === undefined || !rules.tools.has(name)) return;
  const dialect = text[at] === "[" ? "mistral" : "llama";
  const objects = callObjectsAt(dialects, at, ";");
  if (!objects.ok) {
    // What is broken before its end may be text with an example; only a reply that stops inside a call is a cut call.
    if (!objects.fault.eof) return;
    addDialectFault(findings, { dialect, ...objects.fault, lineAt: at });
  } else {
    const isWhole = skipSpace(text, objects.end, text.length) === text.length;
    const offered = rules.tools;
    if (!isWhole || !objects.value.every((call) => offered.has(call.name))) return;
    if (rules.cut)
      addDialectFault(findings, { dialect, at: text.length, detail: "the reply was cut off in it", lineAt: at });
    else keepDialectCalls(findings, { dialect, calls: objects.value }, rules);
  }
  goOn(scan, text.length, true);
}
