// Reads what an operator sent: a valid frame, or the error frame that says why it is not one.
import { describeIssues, issuesOf } from "../lenient-read.ts";
import type { JsonFault } from "../json/bounded-json.ts";
import { readStrictJson } from "../json/strict-json.ts";
import { ClientFrame, type ErrorFrame } from "./frames.ts";
import { refuseFrame } from "./refuse-frame.ts";

/** UTF-16 code units. Large results do not travel here but through the worker routes. */
export const maxFrameLength = 1024 * 1024;
const maxDepth = 128;
const maxValues = 65_536;

export type ClientFrameRead =
  | { readonly ok: true; readonly frame: ClientFrame }
  | { readonly ok: false; readonly error: ErrorFrame };

/** Never throws. */
export function readClientFrame(text: string, { maxLength = maxFrameLength } = {}): ClientFrameRead {
  const read = readStrictJson(text, { maxLength, maxDepth, maxValues });
  if (!read.ok && read.fault === "duplicate_key") return refuseFrame("bad_json", duplicateKey(read.key));
  if (!read.ok && read.fault === "number_out_of_range") return refuseFrame(read.fault, unkept(read.number));
  if (!read.ok) return refuseFrame(read.fault, textFaults[read.fault]);
  const { value } = read;
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return refuseFrame("bad_frame", "the frame is not a JSON object; send one object per frame");
  }
  const reqId = "req_id" in value ? value.req_id : undefined;
  const type = "type" in value ? value.type : undefined;
  if (typeof type !== "string" || !clientTypes.has(type)) {
    return refuseFrame("unknown_type", `"type" must be one of ${[...clientTypes].join(", ")}`, reqId);
  }
  const parsed = ClientFrame.safeParse(value);
  if (parsed.success) return { ok: true, frame: parsed.data };
  const faults = describeIssues(issuesOf(parsed.error));
  return refuseFrame("bad_frame", `this ${type} frame cannot be read: ${faults}`, reqId);
}

const clientTypes: ReadonlySet<string> = new Set(ClientFrame.options.map((option) => option.shape.type.value));

/** Which of the two values is meant cannot be told, and `ok` may be among them. */
function duplicateKey(key: string): string {
  return `the frame names the key ${JSON.stringify(key.slice(0, 60))} twice in one object; send each key once`;
}

function unkept(number: string): string {
  return `the frame holds the number ${number}, which cannot be kept as it is; send it as text`;
}

const textFaults: Readonly<Record<Exclude<JsonFault, "number_out_of_range">, string>> = {
  too_large: "the frame is too long; send large results through the worker routes",
  too_deep: `the frame nests deeper than ${maxDepth} levels; send a flatter value, or the value as text`,
  too_many_values: `the frame holds more than ${maxValues} values; send large results through the worker routes`,
  bad_json: "the frame is not JSON; send one JSON object per text frame",
};
