// Sends one planned request and judges the reply.

import { Agent, type ClientRequest, type IncomingMessage, request } from "node:http";

import type { Reply } from "./described-api.ts";
import type { Planned } from "./plan-request.ts";

export type Outcome =
  | { readonly kind: "replied"; readonly reply: Reply }
  /** The caller went away, as it meant to. */
  | { readonly kind: "left" }
  /** The connection ended without an answer. */
  | { readonly kind: "broken"; readonly why: string }
  /** No answer in time. */
  | { readonly kind: "hang" };

export interface Sender {
  send(planned: Planned): Promise<Outcome>;
  close(): void;
}

const hangMs = 60_000;
/** A stream, or a wait that was asked for, is looked at for this long. */
const slowMs = 150;
/** More of a reply is not needed to judge it. */
const mostRead = 4 * 2 ** 20;

export function sender(url: URL, connections: number): Sender {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  return {
    async send(planned) {
      const first = await once(url, agent, planned);
      // The service may have closed an idle connection just as it was used again.
      return first.kind === "broken" && first.reused ? once(url, agent, planned) : first;
    },
    close: () => agent.destroy(),
  };
}

type Tried = Outcome & { readonly reused?: boolean };

function once(url: URL, agent: Agent, planned: Planned): Promise<Tried> {
  return new Promise((resolve) => {
    let sent: ClientRequest;
    let timer: NodeJS.Timeout | undefined;
    const done = (tried: Tried): void => {
      clearTimeout(timer);
      resolve(tried);
    };
    const { method, target, headers, body, from, leave, slow } = planned;
    const length = body === undefined ? {} : { "content-length": String(body.length) };
    try {
      sent = request({
        host: url.hostname,
        port: url.port,
        method,
        path: target,
        headers: { ...headers, ...length },
        // Who leaves or comes from elsewhere has a connection of its own.
        agent: from === undefined && leave === undefined ? agent : false,
        ...(from === undefined ? {} : { localAddress: from }),
      });
    } catch {
      // Node's own client would not send it; such requests are made on bare sockets.
      done({ kind: "left" });
      return;
    }
    timer = setTimeout(
      () => {
        done(slow ? { kind: "left" } : { kind: "hang" });
        sent.destroy();
      },
      slow ? Math.max(slowMs, 2_000) : hangMs,
    );
    let answered = false;
    sent.on("response", (response) => {
      answered = true;
      void read(response, slow).then((reply) => done({ kind: "replied", reply }));
    });
    sent.on("error", (error) => {
      if (answered) return;
      const why = "code" in error ? String(error.code) : error.message;
      done(leave === undefined ? { kind: "broken", why, reused: sent.reusedSocket } : { kind: "left" });
    });
    sent.on("close", () => {
      if (!answered)
        done(leave === undefined ? { kind: "broken", why: "closed", reused: sent.reusedSocket } : { kind: "left" });
    });
    if (leave === "in_body" && body !== undefined) {
      sent.write(body.subarray(0, Math.floor(body.length / 2)), () => sent.destroy());
      return;
    }
    sent.end(body, () => {
      if (leave === "at_once") sent.destroy();
    });
  });
}

/** A slow one is left once it has begun. */
function read(response: IncomingMessage, slow: boolean): Promise<Reply> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let timer: NodeJS.Timeout | undefined;
    const done = (cut: boolean): void => {
      clearTimeout(timer);
      resolve({
        status: response.statusCode ?? 0,
        type: response.headers["content-type"] ?? "",
        text: Buffer.concat(chunks).toString("utf8"),
        cut,
      });
    };
    const stop = (): void => {
      done(true);
      response.destroy();
    };
    const endless = (response.headers["content-type"] ?? "").startsWith("text/event-stream");
    timer = setTimeout(stop, slow || endless ? slowMs : hangMs);
    response.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size > mostRead) stop();
    });
    response.on("end", () => done(false));
    response.on("error", () => done(true));
    response.on("close", () => done(!response.complete));
  });
}
