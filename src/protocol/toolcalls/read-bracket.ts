// Handles a bracket in a reply that may begin calls: a token of Mistral, or a list of calls as in Python.
import { takeDialect, takePythonList } from "./dialects/take-dialect.ts";
import type { ReplyScan } from "./reply-scan.ts";

/** `at` is on the bracket, or on the line break before it. */
export function readBracket(scan: ReplyScan, at: number): void {
  const onLine = scan.text[at] === "\n";
  const taken = onLine ? takePythonList(scan, at + 1) : takeDialect(scan, at);
  if (!taken) scan.at = at + 1;
}
