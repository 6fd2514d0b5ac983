// Reads the body of a request: whole, bounded in size, UTF-8, and for a JSON route JSON of bounded depth.

import type { IncomingMessage, ServerResponse } from "node:http";

import type { RouteBody } from "../../protocol/api/route-shape.ts";
import type { RouteName } from "../../protocol/api/routes.ts";
import { readStrictJson, type StrictJson } from "../../protocol/json/strict-json.ts";
import { type HttpError, httpError } from "./http-error.ts";

export type BodyReading =
  | { readonly ok: true; readonly text: string; readonly value: unknown }
  | { readonly ok: false; readonly error: HttpError }
  /** The caller closed the connection; there is nobody to answer. */
  | { readonly ok: false; readonly error: undefined };

const defaultMaxBytes = 1024 * 1024;
const largerMaxBytes: Partial<Record<RouteName, number>> = {
  invoke: 8 * defaultMaxBytes,
  reportAttended: 8 * defaultMaxBytes,
  workerResult: 2 * defaultMaxBytes,
  workerSubmit: 2 * defaultMaxBytes,
};

export function maxBodyBytes(route: RouteName): number {
  return largerMaxBytes[route] ?? defaultMaxBytes;
}

const maxDepth = 128;
/** The number of values in a JSON body is limited to one for every so many bytes that the body may have. */
const bytesPerValue = 8;
const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Nothing of the body may have been read before. */
export async function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  { body, maxBytes }: { readonly body: RouteBody; readonly maxBytes: number },
): Promise<BodyReading> {
  const { "content-length": length, "transfer-encoding": transfer, "content-encoding": encoding } = request.headers;
  if (Number(length ?? 0) > maxBytes) return tooLarge(maxBytes);
  if (encoding !== undefined && encoding !== "identity") return unsupported("send the body without compression");
  const absent = transfer === undefined && (length === undefined || length === "0");
  if (body.type === "json" && !(absent && body.optional === true) && !isJson(request.headers["content-type"])) {
    return unsupported("send JSON, with `Content-Type: application/json`");
  }
  if (request.headers.expect?.toLowerCase() === "100-continue") response.writeContinue();
  const bytes = absent ? Buffer.alloc(0) : await collect(request, maxBytes);
  if (bytes === "closed") return { ok: false, error: undefined };
  if (bytes === "too_large") return tooLarge(maxBytes);
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    return { ok: false, error: httpError("usage", "the body is not UTF-8") };
  }
  if (body.type === "text") return { ok: true, text, value: text };
  if (text === "" && body.optional === true) return { ok: true, text, value: {} };
  const bounds = { maxLength: maxBytes, maxDepth, maxValues: Math.ceil(maxBytes / bytesPerValue) };
  const read = readStrictJson(text, bounds);
  return read.ok ? { ok: true, text, value: read.value } : { ok: false, error: jsonError(read) };
}

/** A page of another site can send forms and plain text without a preflight request, but not this content type. */
function isJson(type: string | undefined): boolean {
  return type !== undefined && /^application\/json\s*(?:;\s*charset="?utf-8"?\s*)?$/i.test(type);
}

function collect(request: IncomingMessage, maxBytes: number): Promise<Buffer | "closed" | "too_large"> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const settle = (outcome: Buffer | "closed" | "too_large"): void => {
      request.off("data", onData).off("end", onEnd).off("error", onClose).off("close", onClose);
      resolve(outcome);
    };
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > maxBytes) settle("too_large");
      else chunks.push(chunk);
    };
    const onEnd = (): void => settle(Buffer.concat(chunks, size));
    const onClose = (): void => settle("closed");
    request.on("data", onData).on("end", onEnd).on("error", onClose).on("close", onClose);
  });
}

function tooLarge(maxBytes: number): BodyReading {
  return { ok: false, error: httpError("too_large", `the body may have at most ${maxBytes} bytes`) };
}

function unsupported(message: string): BodyReading {
  return { ok: false, error: httpError("usage", message, { status: 415 }) };
}

function jsonError(read: Extract<StrictJson, { ok: false }>): HttpError {
  switch (read.fault) {
    case "duplicate_key": {
      const key = JSON.stringify(read.key.slice(0, 60));
      return httpError("invalid_input", `the body names the key ${key} twice in one object; send each key once`);
    }
    case "too_large":
      return httpError("too_large", "the body is too long");
    case "bad_json":
      return httpError("usage", "the body is not JSON");
    case "too_deep":
      return httpError("invalid_input", `the body is nested deeper than ${maxDepth} levels; send a flatter value`);
    case "too_many_values":
      return httpError("too_large", "the body has too many values; send fewer at a time");
    case "number_out_of_range":
      return httpError(
        "invalid_input",
        `the body has the number ${read.number}, which cannot be kept as it is; send it as text`,
      );
  }
}
