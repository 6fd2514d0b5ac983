// Notices as signed requests, by the convention of Standard Webhooks.

import { createHmac } from "node:crypto";
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";

import type { Clock } from "../../ports.ts";
import type { Sent, Target } from "./target.ts";

const timeoutMs = 10_000;
const maxAgeMs = 24 * 60 * 60 * 1000;
const maxWaitMs = 60 * 60 * 1000;
const shortestKey = 16;

/** `whsec_` and base64, as others hand them out, or any text that is long enough; undefined when it cannot be a key. */
export function webhookKey(secret: string): Buffer | undefined {
  const text = secret.trim();
  const key = text.startsWith("whsec_")
    ? Buffer.from(text.slice("whsec_".length), "base64")
    : Buffer.from(text, "utf8");
  return key.length >= shortestKey ? key : undefined;
}

export function webhookTarget(url: string, { key, clock }: { readonly key: Buffer; readonly clock: Clock }): Target {
  return {
    name: "webhook",
    maxTries: 100,
    maxAgeMs,
    claimed: false,
    async send({ id }, body, signal) {
      const timestamp = String(Math.floor(clock.now() / 1000));
      const signature = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
      const stop = new AbortController();
      const late = clock.timer(timeoutMs, () => stop.abort(new Error(`no answer in ${timeoutMs / 1000} s`)));
      try {
        return read(
          await post(url, body, {
            signal: AbortSignal.any([stop.signal, signal]),
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
        return { outcome: "failed", reason: stop.signal.aborted ? reasonOf(stop.signal.reason) : reasonOf(thrown) };
      } finally {
        late();
      }
    },
  };
}

interface Answer {
  readonly status: number;
  readonly retryAfter: string | undefined;
}

/** Node's own client follows no redirect: the signed body goes where it was meant to go, or nowhere. */
function post(
  url: string,
  body: string,
  options: { readonly signal: AbortSignal; readonly headers: Readonly<Record<string, string>> },
): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const make = url.startsWith("https:") ? httpsRequest : httpRequest;
  const bytes = Buffer.from(body, "utf8");
  const headers = { ...options.headers, "content-length": bytes.length };
  const sent = make(url, { method: "POST", agent: false, signal: options.signal, headers });
  sent.on("error", reject);
  sent.on("response", (response) => {
    resolve({ status: response.statusCode ?? 0, retryAfter: response.headers["retry-after"] });
    // What it says beside its status is of no use, however long it is.
    response.on("error", () => undefined);
    response.destroy();
  });
  sent.end(bytes);
  return promise;
}

function read({ status, retryAfter }: Answer, now: number): Sent {
  if (status >= 200 && status < 300) return { outcome: "delivered" };
  if (status === 410) return { outcome: "gone", reason: "it answered 410, it wants no more of them" };
  const reason =
    status >= 300 && status < 400 ? `it answered ${status}, and redirects are not followed` : `it answered ${status}`;
  const waitMs = askedToWait(retryAfter, now);
  return waitMs === undefined ? { outcome: "failed", reason } : { outcome: "failed", reason, waitMs };
}

/** Seconds, or a date. */
function askedToWait(retryAfter: string | undefined, now: number): number | undefined {
  if (retryAfter === undefined) return undefined;
  const ms = /^\d+$/.test(retryAfter) ? Number(retryAfter) * 1000 : Date.parse(retryAfter) - now;
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 0), maxWaitMs) : undefined;
}

/** Without the address, which may hold a secret. */
function reasonOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  return "code" in thrown && typeof thrown.code === "string" ? thrown.code : thrown.message;
}
