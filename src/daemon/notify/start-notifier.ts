// Tells the user of asks and of finished work: reads the events, and gives what is worth telling to the outbox.

import { setImmediate as nextTick } from "node:timers/promises";

import { idInName } from "../../store/names.ts";
import type { Environment } from "../../model/resolve-model.ts";
import type { Clock } from "../../ports.ts";
import type { ServiceRecords } from "../../store/service-records.ts";
import type { Store } from "../../store/store.ts";
import type { StoreView } from "../../store/view.ts";
import type { EventFeed, FeedEvent } from "../state/event-feed.ts";
import type { Log } from "../log/log.ts";
import { commandTarget } from "./command-target.ts";
import { desktopTarget } from "./desktop-target.ts";
import { type Notice, noticeOf } from "./notice.ts";
import type { NotifyConfig } from "./notify-config.ts";
import { Outbox } from "./outbox.ts";
import type { Target } from "./target.ts";
import { webhookKey, webhookTarget } from "./webhook-target.ts";

export interface NotifierOptions {
  readonly config: NotifyConfig;
  readonly store: Pick<Store, "committed" | "failure">;
  readonly records: ServiceRecords;
  readonly view: StoreView;
  readonly feed: EventFeed;
  readonly log: Pick<Log, "info" | "warn" | "error">;
  readonly clock: Clock;
  readonly env: Environment;
  /** For what was recorded before a secret was known. */
  readonly redact?: (text: string) => string;
}

export interface Notifier {
  /** What is not delivered yet is, after the next start. */
  close(): Promise<void>;
}

/** The last sequence that was turned into notices. */
const position = "notified";
const pageSize = 500;
/** Events without a notice after which the position is written nevertheless. */
const writeEvery = 10_000;

export function startNotifier(options: NotifierOptions): Notifier {
  const { targets, resting } = targetsOf(options);
  const { store, records, view, feed, clock, log, config, redact = (text: string) => text } = options;
  const matters = ({ ask }: Notice): boolean => ask === undefined || isOpen(view, ask.id);
  const outbox = new Outbox({ targets, resting, store, records, clock, log, matters });
  if (targets.length === 0) {
    // Whoever sets it up later wants to hear of what happens from then on.
    if ((records.setting(position) ?? "") !== "") records.putSetting(position, "");
    return { close: () => outbox.close() };
  }

  let [seen, written] = startAt(records, feed);
  let [closed, broken, off] = [false, false, (): void => undefined];
  /** The position goes with the notices, in one commit: after a crash none is missing and none is made twice. */
  const write = (): void => {
    records.putSetting(position, String(seen));
    written = seen;
  };
  const take = (events: readonly FeedEvent[]): void => {
    let found = false;
    for (const { event } of events) {
      seen = event.seq;
      const notice = noticeOf(event, { view, on: config.on, redact });
      if (notice === undefined) continue;
      found = true;
      outbox.add(notice, redact(JSON.stringify(notice)));
    }
    if (found || seen - written >= writeEvery) write();
  };
  const guarded = (events: readonly FeedEvent[]): void => {
    try {
      take(events);
    } catch (thrown) {
      // The position stays where it was: the next start begins there.
      [closed, broken] = [true, true];
      off();
      log.error({ err: thrown }, "events cannot be turned into notices; nobody is told any more");
    }
  };
  /** Pages until there is no more, and in the same tick on to what comes. */
  const catchUp = async (): Promise<void> => {
    for (;;) {
      if (closed) return;
      const events = feed.read({ after: seen, limit: pageSize });
      guarded(events);
      if (events.length < pageSize) break;
      await nextTick();
    }
    if (!closed) off = feed.subscribe(guarded);
  };

  if (written !== seen) write();
  outbox.start();
  const caughtUp = catchUp().catch((thrown: unknown) => {
    log.error({ err: thrown }, "events cannot be read for notices; nobody is told any more");
  });
  return {
    async close() {
      closed = true;
      off();
      await caughtUp;
      if (seen > written && !broken && store.failure === undefined) write();
      await outbox.close();
    },
  };
}

/** The first start of all begins now: nobody wants to be told of everything that ever happened. */
function startAt(records: ServiceRecords, feed: EventFeed): [seen: number, written: number] {
  const stored = records.setting(position) ?? "";
  const at = /^\d+$/.test(stored) ? Number(stored) : undefined;
  if (at === undefined || at > feed.position) return [feed.position, -1];
  return [at, at];
}

function isOpen(view: StoreView, ask: string): boolean {
  const wait = idInName(view.salt, ask);
  return wait !== undefined && view.wait(wait) !== undefined && view.answer(wait) === undefined;
}

function targetsOf({ config, env, clock, log }: NotifierOptions): { targets: Target[]; resting: string[] } {
  const [targets, resting]: [Target[], string[]] = [[], []];
  const { command, webhook, desktop } = config;
  if (command !== undefined) targets.push(commandTarget(command, { env, clock, log }));
  if (webhook !== undefined) {
    const key = webhookKey(env[webhook.secret_env] ?? "");
    if (key === undefined) {
      const advice = "set it to a secret of at least 16 bytes and start again";
      log.error({ variable: webhook.secret_env }, `the webhook is not used, its variable holds no secret; ${advice}`);
      resting.push("webhook");
    } else targets.push(webhookTarget(webhook.url, { key, clock }));
  }
  const shown = desktop === false ? undefined : desktopTarget({ env, clock }, { always: desktop === true });
  if (shown !== undefined) targets.push(shown);
  else if (desktop === true) log.warn("there is nothing to show notices on the desktop with");
  return { targets, resting };
}
