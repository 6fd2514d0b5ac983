// Bytes on a bare socket that no HTTP client would send; the service must answer or close, and go on.

import { connect } from "node:net";

import type { Planned } from "./plan-request.ts";
import type { Chance } from "../support/seeded-random.ts";

export interface RawRequest {
  readonly how: string;
  readonly bytes: Buffer;
  /** Something was asked in full, so something must come back: an answer, or the end of the connection. */
  readonly due: boolean;
}

export interface RawOutcome {
  readonly statuses: readonly number[];
  readonly hang: boolean;
}

const hangMs = 60_000;

export function planRaw(
  chance: Chance,
  { host, planned }: { readonly host: string; readonly planned: Planned },
): RawRequest {
  const head = (lines: readonly string[], end = "\r\n\r\n"): Buffer =>
    Buffer.from(`${lines.join("\r\n")}${end}`, "latin1");
  const line = `${planned.method} ${planned.target} HTTP/1.1`;
  const own = [`Host: ${host}`, ...Object.entries(planned.headers).map(([name, value]) => `${name}: ${value}`)];
  const body = planned.body ?? Buffer.from("{}");
  const due = (how: string, bytes: Buffer): RawRequest => ({ how: `raw ${how}`, bytes, due: true });
  const cases: readonly [() => RawRequest, ...(() => RawRequest)[]] = [
    () => ({ how: "raw noise", bytes: noise(chance, 1 + chance.below(4_000)), due: false }),
    () => due("two lengths", Buffer.concat([head([line, ...own, `Content-Length: 2`, `Content-Length: 3`]), body])),
    () =>
      due(
        "length and chunks",
        head([line, ...own, "Content-Length: 4", "Transfer-Encoding: chunked"], "\r\n\r\n0\r\n\r\n"),
      ),
    () => due("bad chunk", head([line, ...own, "Transfer-Encoding: chunked"], "\r\n\r\nzz\r\n{}\r\n0\r\n\r\n")),
    () => due("strange transfer", head([line, ...own, "Transfer-Encoding: xchunked"], "\r\n\r\n0\r\n\r\n")),
    () => due("no host", head([line])),
    () => due("two hosts", head([line, ...own, "Host: evil.example"])),
    () => due("another host", head([line, "Host: evil.example", ...own.slice(1)])),
    () => due("absolute target", head([`GET http://evil.example/v1/status HTTP/1.1`, ...own])),
    () => due("no colon", head([line, ...own, "nonsense"])),
    () => due("control characters", head([line, ...own, "X-A: \x01\x02\x7f", "X\x00B: c"])),
    () => due("folded header", head([line, ...own, "X-A: a", "\tb"])),
    () => due("long header", head([line, ...own, `X-A: ${"a".repeat(40_000)}`])),
    () => due("many headers", head([line, ...own, ...Array.from({ length: 3_000 }, (_, at) => `X-${at}: ${at}`)])),
    () => due("long target", head([`GET /${"a".repeat(60_000)} HTTP/1.1`, ...own])),
    () => due("raw characters in the target", head([`GET /v1/tasks/\x80\xff\x00 HTTP/1.1`, ...own])),
    () => due("old version", head([line.replace("1.1", "0.9"), ...own])),
    () => due("HTTP/2 preface", Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")),
    () =>
      due(
        "another protocol's upgrade",
        head([
          line,
          ...own,
          "Connection: Upgrade, HTTP2-Settings",
          "Upgrade: h2c",
          "HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA",
        ]),
      ),
    () => due("CONNECT", head([`CONNECT evil.example:443 HTTP/1.1`, ...own])),
    () => due("bare line feeds", Buffer.from(`GET /healthz HTTP/1.1\nHost: ${host}\n\n`)),
    () =>
      due(
        "expects",
        Buffer.concat([head([line, ...own, "Expect: 100-continue", `Content-Length: ${body.length}`]), body]),
      ),
    () => due("expects strange things", head([line, ...own, "Expect: miracles", "Content-Length: 0"])),
    () =>
      due(
        "a row of requests",
        Buffer.concat(Array.from({ length: 20 }, () => head([`GET /healthz HTTP/1.1`, `Host: ${host}`]))),
      ),
    () =>
      due(
        "a row with a broken one",
        Buffer.concat([head([`GET /healthz HTTP/1.1`, `Host: ${host}`]), noise(chance, 50), Buffer.from("\r\n\r\n")]),
      ),
    () => ({ how: "raw TLS", bytes: Buffer.from("160301020001000", "hex"), due: false }),
    () => ({ how: "raw half a head", bytes: head([line, ...own], "\r\n"), due: false }),
    () => ({
      how: "raw half a body",
      bytes: head([line, ...own, "Content-Length: 1000"], `\r\n\r\n{"a":`),
      due: false,
    }),
    () => due("socket with a bad key", upgrade(host, planned, ["Sec-WebSocket-Key: x", "Sec-WebSocket-Version: 13"])),
    () =>
      due(
        "socket of another version",
        upgrade(host, planned, [`Sec-WebSocket-Key: ${"A".repeat(22)}==`, "Sec-WebSocket-Version: 99"]),
      ),
    () => due("socket without anything", upgrade(host, planned, [])),
    () =>
      due(
        "socket from another site",
        upgrade(host, planned, [
          `Sec-WebSocket-Key: ${"A".repeat(22)}==`,
          "Sec-WebSocket-Version: 13",
          "Origin: https://evil.example",
        ]),
      ),
  ];
  return chance.pick(cases)();
}

function upgrade(host: string, planned: Planned, more: readonly string[]): Buffer {
  const { authorization = "Bearer x" } = planned.headers;
  const lines = [`GET ${planned.target} HTTP/1.1`, `Host: ${host}`, "Connection: Upgrade", "Upgrade: websocket"];
  return Buffer.from(`${[...lines, `Authorization: ${authorization}`, ...more].join("\r\n")}\r\n\r\n`, "latin1");
}

function noise(chance: Chance, length: number): Buffer {
  return Buffer.from(Array.from({ length }, () => chance.below(256)));
}

/** Reads until the service ends the connection or falls silent after an answer; then leaves. */
export function sendRaw(url: URL, raw: RawRequest): Promise<RawOutcome> {
  return new Promise((resolve) => {
    let heard = "";
    let ended = false;
    const socket = connect({ host: url.hostname, port: Number(url.port) });
    const done = (hang: boolean): void => {
      clearTimeout(limit);
      clearTimeout(quiet);
      socket.destroy();
      const statuses = [...heard.matchAll(/^HTTP\/1\.[01] (\d{3})/gm)].map(([, status]) => Number(status));
      resolve({ statuses, hang });
    };
    let quiet: NodeJS.Timeout | undefined;
    const limit = setTimeout(() => done(raw.due && heard === "" && !ended), raw.due ? hangMs : 100);
    socket.on("connect", () => socket.write(raw.bytes));
    socket.on("data", (chunk: Buffer) => {
      if (heard.length < 200_000) heard += chunk.toString("latin1");
      clearTimeout(quiet);
      quiet = setTimeout(() => done(false), 100);
    });
    socket.on("error", () => undefined);
    socket.on("close", () => {
      ended = true;
      done(false);
    });
  });
}
