// A fetch that trusts one known certificate, whoever issued it and for whatever name, and no other.

import { X509Certificate } from "node:crypto";
import { type AgentOptions, request } from "node:https";
import type { IncomingMessage } from "node:http";

/** For a connection that is made only to whoever has the key of this certificate. */
function pinnedTrust(certificate: string): Pick<AgentOptions, "ca" | "allowPartialTrustChain" | "checkServerIdentity"> {
  const pinned = new X509Certificate(certificate).fingerprint256;
  return {
    ca: certificate,
    allowPartialTrustChain: true,
    // The request, with its key, is sent only after this check. A chain that leads to the certificate is not enough.
    checkServerIdentity: (_, shown) =>
      shown.fingerprint256 === pinned ? undefined : new Error("the service has another certificate than expected"),
  };
}

/** Supports what our client needs of fetch: text bodies, plain headers, no redirects. */
export function pinnedFetch(certificate: string): typeof fetch {
  const trust = pinnedTrust(certificate);
  return async (input, init) => {
    const wanted = new Request(input, init);
    const body = wanted.body === null ? undefined : Buffer.from(await wanted.arrayBuffer());
    const headers = Object.fromEntries(wanted.headers);
    if (body !== undefined) headers["content-length"] = String(body.length);
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const sent = request(wanted.url, { ...trust, method: wanted.method, headers, signal: wanted.signal }, resolve);
      sent.on("error", (error) => reject(new TypeError("fetch failed", { cause: error })));
      sent.end(body);
    });
    const answerHeaders = new Headers();
    for (const [name, value] of Object.entries(answer.headers)) answerHeaders.set(name, String(value));
    const status = answer.statusCode ?? 0;
    const empty = status === 204 || status === 304 || wanted.method === "HEAD";
    if (empty) answer.resume();
    return new Response(empty ? null : streamOf(answer), { status, headers: answerHeaders });
  };
}

/** As with fetch, an abort after the head of the answer has come breaks off the body. What still comes after a cancel is dropped. */
function streamOf(answer: IncomingMessage): ReadableStream<Uint8Array> {
  let isCanceled = false;
  return new ReadableStream<Uint8Array>({
    start(controller) {
      answer.on("data", (chunk: Buffer) => {
        if (isCanceled) return;
        controller.enqueue(chunk);
        if ((controller.desiredSize ?? 0) <= 0) answer.pause();
      });
      answer.on("end", () => isCanceled || controller.close());
      answer.on("error", (error) => controller.error(error));
    },
    pull: () => void answer.resume(),
    cancel() {
      isCanceled = true;
      answer.destroy();
    },
  });
}
