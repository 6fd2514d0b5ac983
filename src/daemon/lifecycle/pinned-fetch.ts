// fetch to a service that shows one known certificate: that one is trusted, whoever issued it and whatever name it has, and no other.

import { X509Certificate } from "node:crypto";
import { request, type RequestOptions } from "node:https";
import type { IncomingMessage } from "node:http";

/** What the client asks of fetch: text bodies, plain headers, no redirects. */
export function pinnedFetch(certificate: string): typeof fetch {
  const wanted = new X509Certificate(certificate).fingerprint256;
  const trust: RequestOptions = {
    ca: certificate,
    allowPartialTrustChain: true,
    // The key is sent only once this has passed: a chain that leads to the certificate is not enough, it must be shown itself.
    checkServerIdentity: (_, shown) =>
      shown.fingerprint256 === wanted ? undefined : new Error("the service shows another certificate than its own"),
  };
  return async (input, init) => {
    const asked = new Request(input, init);
    const body = asked.body === null ? undefined : Buffer.from(await asked.arrayBuffer());
    const headers = Object.fromEntries(asked.headers);
    if (body !== undefined) headers["content-length"] = String(body.length);
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const sent = request(asked.url, { ...trust, method: asked.method, headers, signal: asked.signal }, resolve);
      sent.on("error", (error) => reject(new TypeError("fetch failed", { cause: error })));
      sent.end(body);
    });
    const replied = new Headers();
    for (const [name, value] of Object.entries(answer.headers)) replied.set(name, String(value));
    const status = answer.statusCode ?? 0;
    const empty = status === 204 || status === 304 || asked.method === "HEAD";
    if (empty) answer.resume();
    // An abort after the head breaks the body off, as with fetch.
    return new Response(empty ? null : streamOf(answer), { status, headers: replied });
  };
}

function streamOf(answer: IncomingMessage): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    start(controller) {
      answer.on("data", (chunk: Buffer) => {
        controller.enqueue(chunk);
        if ((controller.desiredSize ?? 0) <= 0) answer.pause();
      });
      answer.on("end", () => controller.close());
      answer.on("error", (error) => controller.error(error));
    },
    pull: () => void answer.resume(),
    cancel: () => void answer.destroy(),
  });
}
