// One HTTP request over a real socket, whose connection can be cut in the middle.

import { Agent, request } from "node:http";

export interface Sending {
  readonly method?: "GET" | "POST" | "DELETE";
  readonly path: string;
  readonly bearer?: string | undefined;
  /** Text goes as it is, anything else as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Cuts the connection this long after the request was written; whether it arrived is then unknown. */
  readonly cutAfterMs?: number | undefined;
  readonly timeoutMs?: number;
}

export interface Reply {
  readonly status: number;
  readonly text: string;
  /** The body read as JSON; undefined when it is none. */
  readonly json: unknown;
}

/** No answer came: it may have been carried out or not. */
export class NoAnswer extends Error {}

const agent = new Agent({ keepAlive: true, maxSockets: 64 });
const usualTimeoutMs = 20_000;

/** Throws `NoAnswer` when there is none. */
export function send(url: string, sending: Sending): Promise<Reply> {
  const { method = "GET", path, bearer, body, cutAfterMs, timeoutMs = usualTimeoutMs } = sending;
  const isText = typeof body === "string";
  const text = body === undefined ? undefined : isText ? body : JSON.stringify(body);
  const headers = {
    ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
    ...(text === undefined ? {} : { "content-type": isText ? "text/plain" : "application/json" }),
    ...sending.headers,
  };
  return new Promise((resolve, reject) => {
    const failed = (error: Error): void => {
      clearTimeout(cut);
      reject(new NoAnswer(error.message, { cause: error }));
    };
    let cut: NodeJS.Timeout | undefined;
    const asked = request(new URL(path, url), { method, headers, agent, timeout: timeoutMs }, (answer) => {
      let heard = "";
      answer.setEncoding("utf8");
      answer.on("data", (chunk: string) => (heard += chunk));
      answer.on("error", failed);
      answer.on("end", () => {
        clearTimeout(cut);
        if (answer.complete) resolve({ status: answer.statusCode ?? 0, text: heard, json: jsonIn(heard) });
      });
    });
    asked.on("error", failed);
    asked.on("timeout", () => asked.destroy(new Error(`no answer to ${method} ${path} within ${timeoutMs} ms`)));
    asked.end(text, () => {
      if (cutAfterMs !== undefined) cut = setTimeout(() => asked.destroy(new Error("cut")), cutAfterMs);
    });
  });
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
