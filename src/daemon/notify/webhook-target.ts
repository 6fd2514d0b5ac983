// Sends notices as signed HTTP requests, as the Standard Webhooks convention says.

import { createHmac } from "node:crypto";
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";

import type { Clock } from "../../ports.ts";
import type { SendResult, Target } from "./target.ts";

const timeoutMs = 10_000;
const maxAgeMs = 24 * 60 * 60 * 1000;
const maxRetryAfterMs = 60 * 60 * 1000;
const minKeyBytes = 16;

/** The key is base64 after `whsec_`, or else the text itself. Returns undefined if it is too short to be one. */
export function webhookKey(secret: string): Buffer | undefined {
  const text = secret.trim();
  const key = text.startsWith("whsec_")
    ? Buffer.from(text.slice("whsec_".length), "base64")
    : Buffer.from(text, "utf8");
  return key.length >= minKeyBytes ? key : undefined;
}

export function webhookTarget(url: string, { key, clock }: { readonly key: Buffer; readonly clock: Clock }): Target {
  return {
    name: "webhook",
    maxTries: 100,
    maxAgeMs,
    recordsTryFirst: false,
    async send({ id }, body, signal) {
      const timestamp = String(Math.floor(clock.now() / 1000));
      const signature = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
      const timeout = new AbortController();
      const cancelTimer = clock.timer(timeoutMs, () => timeout.abort(new Error(`no answer in ${timeoutMs / 1000} s`)));
      try {
        return resultOf(
          await post(url, body, {
            signal: AbortSignal.any([timeout.signal, signal]),
            headers: {
              "webhook-id": id,
              "webhook-timestamp": timestamp,
              "webhook-signature": `v1,${signature}`,
              "content-type": "application/json",
              "user-agent": "tutti",
            },
          }),
          clock.now(),
        );
      } catch (thrown) {
        return { outcome: "failed", reason: reasonOf(timeout.signal.aborted ? timeout.signal.reason : thrown) };
      } finally {
        cancelTimer();
      }
    },
  };
}

interface Answer {
  readonly status: number;
  readonly retryAfter: string | undefined;
}

/** Unlike fetch, Node's own client follows no redirects: the signed body is sent to the configured address only. */
function post(
  url: string,
  body: string,
  options: { readonly signal: AbortSignal; readonly headers: Readonly<Record<string, string>> },
): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const request = url.startsWith("https:") ? httpsRequest : httpRequest;
  const bytes = Buffer.from(body, "utf8");
  const headers = { ...options.headers, "content-length": bytes.length };
  const sent = request(url, { method: "POST", agent: false, signal: options.signal, headers });
  sent.on("error", reject);
  sent.on("response", (response) => {
    resolve({ status: response.statusCode ?? 0, retryAfter: response.headers["retry-after"] });
    // Only the status and one header are used; the body may be long and is not read.
    response.on("error", () => undefined);
    response.destroy();
  });
  sent.end(bytes);
  return promise;
}

function resultOf({ status, retryAfter }: Answer, now: number): SendResult {
  if (status >= 200 && status < 300) return { outcome: "delivered" };
  if (status === 410) return { outcome: "gone", reason: "it answered 410: it wants no more notices" };
  const reason =
    status >= 300 && status < 400 ? `it answered ${status}, and redirects are not followed` : `it answered ${status}`;
  const retryAfterMs = readRetryAfter(retryAfter, now);
  return { outcome: "failed", reason, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
}

/** The header holds seconds or a date. */
function readRetryAfter(retryAfter: string | undefined, now: number): number | undefined {
  if (retryAfter === undefined) return undefined;
  const ms = /^\d+$/.test(retryAfter) ? Number(retryAfter) * 1000 : Date.parse(retryAfter) - now;
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 0), maxRetryAfterMs) : undefined;
}

/** Prefers the code, because the message may contain the address, which may hold a secret. */
function reasonOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  return "code" in thrown && typeof thrown.code === "string" ? thrown.code : thrown.message;
}
