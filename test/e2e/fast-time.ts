// Loaded into a daemon before everything else, it makes time run faster, and with it every deadline and lease.

import { subscribe } from "node:diagnostics_channel";
import type { ServerResponse } from "node:http";

const factor = Number(process.env["TEST_TIME_FACTOR"] ?? 1);
/** The same for every process of a test, so that time does not go back when one follows another. */
const since = Number(process.env["TEST_TIME_SINCE"] ?? 0);

const real = { now: Date.now.bind(Date), setTimeout, setInterval };

Date.now = () => Math.floor(since + (real.now() - since) * factor);
globalThis.setTimeout = Object.assign(
  ((work: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) =>
    real.setTimeout(work, ms / factor, ...args)) as typeof setTimeout,
  real.setTimeout,
);
globalThis.setInterval = Object.assign(
  ((work: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) =>
    real.setInterval(work, ms / factor, ...args)) as typeof setInterval,
  real.setInterval,
);

/**
 * A connection that is idle for a moment of the test is idle for long here, and would be closed just when the test uses it
 * again. So no connection is kept.
 */
subscribe("http.server.request.start", (message) => {
  const { response } = message as { readonly response: ServerResponse };
  response.shouldKeepAlive = false;
});
