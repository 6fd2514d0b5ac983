// Reads the body of a request: bounded in size, whole, UTF-8, and JSON of bounded depth where a route takes JSON.

import type { IncomingMessage, ServerResponse } from "node:http";

import type { RouteBody } from "../../protocol/api/route-shape.ts";
import { type JsonFault, readBoundedJson } from "../../protocol/operator/bounded-json.ts";
import { type Refused, refuse } from "./refused.ts";

export type BodyReading =
  | { readonly ok: true; readonly text: string; readonly value: unknown }
  | { readonly ok: false; readonly refused: Refused }
  /** The caller is gone; there is nobody to answer. */
  | { readonly ok: false; readonly refused: undefined };

const maxDepth = 128;
/** One value for so many bytes of the limit. */
const bytesPerValue = 8;
const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Expects nothing to have been read. */
export async function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  { body, limit }: { readonly body: RouteBody; readonly limit: number },
): Promise<BodyReading> {
  const { "content-length": length, "transfer-encoding": coding, "content-encoding": packed } = request.headers;
  if (Number(length ?? 0) > limit) return tooLarge(limit);
  if (packed !== undefined && packed !== "identity") return unsupported("send the body as it is, not packed");
  const absent = coding === undefined && (length === undefined || length === "0");
  if (body.type === "json" && !(absent && body.optional === true) && !isJson(request.headers["content-type"])) {
    return unsupported("send JSON, with `Content-Type: application/json`");
  }
  if (request.headers.expect?.toLowerCase() === "100-continue") response.writeContinue();
  const bytes = absent ? Buffer.alloc(0) : await collect(request, limit);
  if (bytes === "gone") return { ok: false, refused: undefined };
  if (bytes === "too_large") return tooLarge(limit);
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    return { ok: false, refused: refuse("usage", "the body is not UTF-8") };
  }
  if (body.type === "text") return { ok: true, text, value: text };
  if (text === "" && body.optional === true) return { ok: true, text, value: {} };
  const bounds = { maxLength: limit, maxDepth, maxValues: Math.ceil(limit / bytesPerValue) };
  const read = readBoundedJson(text, bounds);
  return read.ok ? { ok: true, text, value: read.value } : { ok: false, refused: faulty(read.fault) };
}

/** A page of another site can send a form or plain text without being asked first, but not this type. */
function isJson(type: string | undefined): boolean {
  return type !== undefined && /^application\/json\s*(?:;\s*charset="?utf-8"?\s*)?$/i.test(type);
}

function collect(request: IncomingMessage, limit: number): Promise<Buffer | "gone" | "too_large"> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const settle = (outcome: Buffer | "gone" | "too_large"): void => {
      request.off("data", take).off("end", ended).off("error", gone).off("close", gone);
      resolve(outcome);
    };
    const take = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > limit) settle("too_large");
      else chunks.push(chunk);
    };
    const ended = (): void => settle(Buffer.concat(chunks, size));
    const gone = (): void => settle("gone");
    request.on("data", take).on("end", ended).on("error", gone).on("close", gone);
  });
}

function tooLarge(limit: number): BodyReading {
  return { ok: false, refused: refuse("too_large", `the body may have at most ${limit} bytes`) };
}

function unsupported(message: string): BodyReading {
  return { ok: false, refused: refuse("usage", message, { status: 415 }) };
}

function faulty(fault: JsonFault): Refused {
  switch (fault) {
    case "too_large":
      return refuse("too_large", "the body is too long");
    case "bad_json":
      return refuse("usage", "the body is not JSON");
    case "too_deep":
      return refuse("invalid_input", `the body nests deeper than ${maxDepth} levels; send a flatter value`);
    case "too_many_values":
      return refuse("too_large", "the body holds too many values; send fewer at a time");
    case "number_out_of_range":
      return refuse("invalid_input", "the body holds a number too large to be kept; send it as text");
  }
}
