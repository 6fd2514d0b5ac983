// Notifies the user of asks and of finished work: turns events into notices and puts them into the outbox.

import { setImmediate as nextTick } from "node:timers/promises";

import { escapeControls } from "../../core/escape-controls.ts";
import { idInName } from "../../store/names.ts";
import type { Environment } from "../../model/resolve-model.ts";
import type { Clock } from "../../ports.ts";
import { toTuttiError } from "../../protocol/error.ts";
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
  readonly records: ServiceRecords;
  readonly store: Pick<Store, "committed" | "failure">;
  /** Looks at the tasks of all nodes. */
  readonly view: Pick<StoreView, "salt" | "taskRow" | "openWait">;
  readonly feed: EventFeed;
  readonly log: Pick<Log, "info" | "warn" | "error">;
  readonly clock: Clock;
  readonly env: Environment;
  /** For texts that were recorded before a secret was known. */
  readonly redact?: (text: string) => string;
  /** True for one node at a time, which sends the notices of all; absent where there is one process. */
  readonly takeTurn?: () => Promise<boolean>;
}

export interface Notifier {
  /** Notices that are not delivered yet stay for the next start. */
  close(): Promise<void>;
}

/** The setting that holds the sequence of the last event that was turned into notices. */
const positionSetting = "notified";
const pageSize = 500;
const pageLength = 1024 * 1024;
/** After so many events the position is written, even if none of them made a notice. */
const writeEvery = 10_000;
const retryMs = 1_000;

/** How often a node asks whether it is its turn to send notices. */
const turnMs = 2_000;

export function startNotifier(options: NotifierOptions): Notifier {
  const found = targetsOf(options);
  const { takeTurn } = options;
  if (takeTurn === undefined) return begin(options, found);
  // Other nodes may be configured to send notices.
  if (found.targets.length === 0) return { close: async () => undefined };
  return inTurn({ ...options, takeTurn }, () => begin(options, found));
}

/** A node that has its turn keeps it as long as it lives. The next one goes on where it was. */
function inTurn(
  { clock, log, takeTurn }: NotifierOptions & Required<Pick<NotifierOptions, "takeTurn">>,
  start: () => Notifier,
): Notifier {
  let [closed, cancel, notifier]: [boolean, () => void, Notifier | undefined] = [false, () => undefined, undefined];
  const look = async (): Promise<void> => {
    const isMine = await takeTurn().catch((thrown: unknown) => {
      if (!closed) log.warn({ err: thrown }, "it cannot be found out which node sends the notices");
      return false;
    });
    if (closed) return;
    if (isMine) notifier = start();
    else {
      cancel = clock.timer(turnMs, () => {
        looking = look();
      });
    }
  };
  let looking = look();
  return {
    async close() {
      closed = true;
      cancel();
      await looking;
      await notifier?.close();
    },
  };
}

function begin(options: NotifierOptions, { targets, unusable }: ReturnType<typeof targetsOf>): Notifier {
  const { store, view, records, feed, clock, log, config, redact = (text: string) => text } = options;
  const isRelevant = async ({ ask }: Notice): Promise<boolean> => ask === undefined || isOpen(view, ask.id);
  const outbox = new Outbox({ targets, unusable, store, records, clock, log, isRelevant });
  if (targets.length === 0) {
    // If notifications are configured later, they start with what happens from then on.
    if ((records.setting(positionSetting) ?? "") !== "") records.putSetting(positionSetting, "");
    return { close: () => outbox.close() };
  }

  let [seen, written] = startPosition(records, feed);
  let [closed, broken, unsubscribe] = [false, false, (): void => undefined];
  /** The position is in the same commit as the notices: after a crash none is missing and none is made twice. */
  const writePosition = (): void => {
    records.putSetting(positionSetting, String(seen));
    written = seen;
  };
  const addNotices = async (events: readonly FeedEvent[]): Promise<void> => {
    const made: Notice[] = [];
    for (const { event } of events) {
      if (event.seq <= seen) continue;
      const notice = await noticeOf(event, { view, on: config.on, redact });
      if (notice !== undefined) made.push(notice);
    }
    if (closed) return;
    seen = Math.max(seen, events.at(-1)?.event.seq ?? 0);
    for (const notice of made) outbox.add(notice, escapeControls(redact(JSON.stringify(notice))));
    if (made.length > 0 || seen - written >= writeEvery) writePosition();
  };
  /** Events are turned into notices one batch after the other. */
  let adding: Promise<void> = Promise.resolve();
  const onEvents = (events: readonly FeedEvent[]): Promise<void> => {
    adding = adding.then(async () => {
      try {
        while (!closed) {
          try {
            return await addNotices(events);
          } catch (thrown) {
            // The database is away for a while; nothing was added yet.
            if (toTuttiError(thrown).code !== "unreachable") throw thrown;
            await new Promise<void>((resolve) => clock.timer(retryMs, resolve));
          }
        }
      } catch (thrown) {
        if (closed) return;
        // The position is not written, so the next start begins where this one stopped.
        [closed, broken] = [true, true];
        unsubscribe();
        log.error({ err: thrown }, "events cannot be turned into notices; no more notices are sent");
      }
    });
    return adding;
  };
  let [isUpToDate, missedSome] = [false, false];
  /** Subscribes before it reads, so that no event is missed. Events committed during a read are read from the store. */
  const catchUp = async (): Promise<void> => {
    unsubscribe = feed.subscribe((events) => {
      if (isUpToDate) void onEvents(events);
      else missedSome = true;
    });
    while (!closed) {
      missedSome = false;
      const { events, more } = await feed.read({ after: seen, limit: pageSize, maxLength: pageLength });
      if (closed) return;
      await onEvents(events);
      isUpToDate = !more && !missedSome;
      if (isUpToDate) return;
      await nextTick();
    }
  };

  if (written !== seen) writePosition();
  outbox.start();
  const caughtUp = catchUp().catch((thrown: unknown) => {
    if (!closed) log.error({ err: thrown }, "events cannot be read; no more notices are sent");
  });
  return {
    async close() {
      closed = true;
      unsubscribe();
      await caughtUp;
      await adding;
      if (seen > written && !broken && store.failure === undefined) writePosition();
      await outbox.close();
    },
  };
}

/** The very first start begins with the events from now on: nobody wants notices of everything that ever happened. */
function startPosition(records: ServiceRecords, feed: EventFeed): [seen: number, written: number] {
  const stored = records.setting(positionSetting) ?? "";
  const at = /^\d+$/.test(stored) ? Number(stored) : undefined;
  if (at === undefined || at > feed.position) return [feed.position, -1];
  return [at, at];
}

async function isOpen(view: NotifierOptions["view"], ask: string): Promise<boolean> {
  const wait = idInName(view.salt, ask);
  return wait !== undefined && (await view.openWait(wait)) !== undefined;
}

function targetsOf({ config, env, clock, log }: NotifierOptions): { targets: Target[]; unusable: string[] } {
  const [targets, unusable]: [Target[], string[]] = [[], []];
  const { command, webhook, desktop } = config;
  if (command !== undefined) targets.push(commandTarget(command, { env, clock, log }));
  if (webhook !== undefined) {
    const key = webhookKey(env[webhook.secret_env] ?? "");
    if (key === undefined) {
      const advice = "set it to at least 16 bytes and start again";
      log.error({ variable: webhook.secret_env }, `the webhook is not used: its variable holds no secret; ${advice}`);
      unusable.push("webhook");
    } else targets.push(webhookTarget(webhook.url, { key, clock }));
  }
  const onDesktop = desktop === false ? undefined : desktopTarget({ env, clock }, { always: desktop === true });
  if (onDesktop !== undefined) targets.push(onDesktop);
  else if (desktop === true) log.warn("there is no program to show notices on the desktop");
  return { targets, unusable };
}
