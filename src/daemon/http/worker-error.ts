// The HTTP error for a refusal of a worker.

import type { ErrorCode } from "../../protocol/error.ts";
import { workerRefusals } from "../../protocol/operator/worker.ts";
import type { WorkerRefusal } from "../operators/worker-reply.ts";
import { type HttpError, httpError } from "./http-error.ts";

const errorCodes = {
  401: "unauthorized",
  403: "refused",
  409: "conflict",
  410: "expired",
  413: "too_large",
  422: "invalid_input",
} as const satisfies Record<number, ErrorCode>;

export function workerError({ reason, message }: WorkerRefusal): HttpError {
  const { status } = workerRefusals[reason];
  return httpError(errorCodes[status], message, { status, extra: { error: reason, message } });
}
