import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import fc from "../../../test/support/properties.ts";

import { answer, anything, ask, person, task } from "../../../test/support/engine-kit.ts";
import { lateView } from "../../../test/support/late-view.ts";
import { reopenAfterKill } from "../../../test/support/kill-process.ts";
import { settle, watchCommits } from "../../../test/support/settle.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { until } from "../../../test/support/wait-until.ts";
import { Engine } from "../../engine/engine.ts";
import { type FakeClock, fakeClock } from "../../engine/fake-clock.ts";
import type { Durable } from "../../ports.ts";
import { openStore } from "../../store/sqlite/sqlite-store.ts";
import { openView } from "../../store/sqlite/sqlite-view.ts";
import type { StoreView } from "../../store/view.ts";
import { openEventFeed } from "../state/event-feed.ts";
import { openLog } from "../log/log.ts";
import { Notice } from "./notice.ts";
import { NotifyConfig } from "./notify-config.ts";
import { startNotifier } from "./start-notifier.ts";

const secret = "a-secret-of-the-webhook";
const env = { PATH: process.env["PATH"], HOOK_SECRET: secret };

const loop = async (durable: Durable): Promise<unknown> => {
  if (durable.agent === "fails") throw new Error("it\nbroke");
  if (durable.agent === "parent") return durable.join(await durable.spawn("child", [task("works")]));
  if (durable.agent === "works") return { files: 3 };
  return durable.wait("ask", { ask, schema: anything });
};

interface World {
  readonly folder: string;
  readonly store: ReturnType<typeof openStore>;
  readonly engine: Engine;
  readonly clock: FakeClock;
  readonly logged: () => string;
  notify(config: unknown, more?: Record<string, string>): ReturnType<typeof startNotifier>;
  start(agent: string): Promise<string>;
  stop(): Promise<void>;
}

/** A state folder with an engine; its notifiers are closed with it. */
async function openWorld(folder: string, clock = fakeClock(), wrap = (view: StoreView) => view): Promise<World> {
  const store = openStore(folder);
  watchCommits(store);
  const engine = new Engine({ store, clock, runners: { loop } });
  await engine.recover();
  const view = wrap(openView(folder));
  const feed = await openEventFeed(store, view);
  const file = join(folder, "log");
  const { log, close } = openLog({ level: "info", file, redact: (text) => text });
  const notifiers: ReturnType<typeof startNotifier>[] = [];
  let stopped = false;
  return {
    folder,
    store,
    engine,
    clock,
    logged: () => readFileSync(file, "utf8"),
    notify(config, more = {}) {
      const parsed = NotifyConfig.parse({ desktop: false, ...Object(config) });
      const all = { config: parsed, store, view, records: store.records, feed, log, clock, env: { ...env, ...more } };
      const notifier = startNotifier(all);
      notifiers.push(notifier);
      return notifier;
    },
    start: async (agent) => (await engine.start(task(agent))).task,
    async stop() {
      if (stopped) return;
      stopped = true;
      for (const notifier of notifiers) await notifier.close();
      await engine.stop();
      feed.close();
      view.close();
      store.close();
      close();
    },
  };
}

async function opened(t: TestContext): Promise<World> {
  const made = await openWorld(tempFolder(t));
  t.after(() => made.stop());
  return made;
}

/** A process that starts from what a kill at this moment leaves. */
async function killed(before: World, t: Pick<TestContext, "after">): Promise<World> {
  return reopenAfterKill(t, before, async (folder) => {
    const after = await openWorld(folder, before.clock);
    t.after(() => after.stop());
    return after;
  });
}

interface Got {
  readonly id: string;
  readonly notice: Notice;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** A receiver whose answers a test decides. */
async function receiver(t: Pick<TestContext, "after">) {
  const got: Got[] = [];
  const state = { reply: (response: ServerResponse): void => void response.writeHead(204).end() };
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (data: Buffer) => (body += data.toString()));
    request.on("end", () => {
      const notice = Notice.parse(JSON.parse(body));
      got.push({ id: String(request.headers["webhook-id"]), notice, headers: request.headers, body });
      state.reply(response);
    });
  });
  await new Promise<void>((go) => server.listen(0, "127.0.0.1", go));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  // It listens on TCP, so its address is an object.
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/hook`;
  return { got, state, url, config: { webhook: { url, secret_env: "HOOK_SECRET" } } };
}

const status =
  (code: number, headers: Record<string, string> = {}) =>
  (response: ServerResponse): void =>
    void response.writeHead(code, headers).end("said");

/** The sequence of the last event of a type; 0 when there is none. */
function lastOf({ store }: World, type: string): number {
  return store.eventsAfter(0, 10_000).findLast((event) => event.type === type)?.seq ?? 0;
}

function waiting({ store }: World) {
  return store.records.notices();
}

test("an ask is sent as a signed request that says how to answer", async (t) => {
  const [at, hook] = [await opened(t), await receiver(t)];
  at.notify(hook.config);
  const name = await at.start("asks");
  await until(() => hook.got.length === 1, "the notice");
  const [got] = hook.got;
  assert.ok(got?.notice.ask);
  const { notice, headers, body } = got;
  assert.deepEqual(
    {
      kind: notice.kind,
      task: notice.task,
      root: notice.root,
      agent: notice.agent,
      title: notice.title,
      text: notice.text,
    },
    { kind: "ask", task: name, root: name, agent: "asks", title: "asks asks", text: "which?" },
  );
  assert.equal(notice.answer_with, `tutti answer ${notice.ask?.id} "…"`);
  assert.equal(notice.ask?.question, "which?");
  assert.equal(headers["webhook-id"], notice.id);
  const signed = `${notice.id}.${String(headers["webhook-timestamp"])}.${body}`;
  const signature = createHmac("sha256", secret).update(signed).digest("base64");
  assert.equal(headers["webhook-signature"], `v1,${signature}`);
  assert.equal(Number(headers["webhook-timestamp"]), Math.floor(at.clock.now() / 1000));
  await until(() => waiting(at).length === 0, "the end of it");
});

test("the end of a root makes a notice, that of a child does not, and only for the configured kinds", async (t) => {
  const [at, hook] = [await opened(t), await receiver(t)];
  at.notify({ ...hook.config, on: ["finished", "failed"] });
  const parent = await at.start("parent");
  await until(() => hook.got.length === 1, "the first notice");
  await at.start("asks");
  const failed = await at.start("fails");
  await until(() => hook.got.length === 2, "the second notice");
  const told = hook.got.map(({ notice: { kind, task: of, title, text } }) => ({ kind, of, title, text }));
  assert.deepEqual(told[0]?.kind, "finished");
  assert.deepEqual(told[0]?.of, parent);
  assert.match(told[0]?.text ?? "", /"files":3/);
  assert.deepEqual(told[1], { kind: "failed", of: failed, title: "fails has failed", text: "it broke" });
});

test("a receiver that fails is tried again with the same id, later and later", async (t) => {
  const [at, hook] = [await opened(t), await receiver(t)];
  hook.state.reply = status(500);
  at.notify(hook.config);
  await at.start("works");
  await until(() => waiting(at)[0]?.tries === 1, "the first try");
  at.clock.advance(3_000);
  assert.equal(hook.got.length, 1);
  at.clock.advance(4_000);
  await until(() => waiting(at)[0]?.tries === 2, "the second try");
  const [row] = waiting(at);
  const delay = (row?.due ?? 0) - at.clock.now();
  assert.ok(delay >= 12_000 && delay <= 18_000, String(delay));
  hook.state.reply = status(200);
  at.clock.advance(18_000);
  await until(() => waiting(at).length === 0, "the third try");
  assert.equal(new Set(hook.got.map(({ id }) => id)).size, 1);
  assert.equal(hook.got.length, 3);
});

test("a receiver that sends Retry-After is tried again after that time", async (t) => {
  const [at, hook] = [await opened(t), await receiver(t)];
  hook.state.reply = status(503, { "retry-after": "600" });
  at.notify(hook.config);
  await at.start("works");
  await until(() => waiting(at)[0]?.tries === 1, "the first try");
  assert.equal(waiting(at)[0]?.due, at.clock.now() + 600_000);
});

test("a receiver that never answers is given up after ten seconds, and tried again", async (t) => {
  const [at, hook] = [await opened(t), await receiver(t)];
  hook.state.reply = () => undefined;
  at.notify(hook.config);
  await at.start("works");
  await until(() => hook.got.length === 1, "the first try");
  at.clock.advance(10_000);
  await until(() => waiting(at)[0]?.tries === 1, "the end of the first try");
  assert.match(at.logged(), /no answer in 10 s/);
  hook.state.reply = status(200);
  at.clock.advance(6_000);
  await until(() => waiting(at).length === 0, "the second try");
});

test("a redirect is not followed", async (t) => {
  const [at, hook, other] = [await opened(t), await receiver(t), await receiver(t)];
  hook.state.reply = status(307, { location: other.url });
  at.notify(hook.config);
  await at.start("works");
  await until(() => waiting(at)[0]?.tries === 1, "the first try");
  assert.equal(other.got.length, 0);
  assert.match(at.logged(), /redirects are not followed/);
});

test("a receiver that is gone gets no more, and what waited for it is dropped", async (t) => {
  const [at, hook] = [await opened(t), await receiver(t)];
  hook.state.reply = status(410);
  at.notify(hook.config);
  await at.start("works");
  await until(() => hook.got.length === 1 && waiting(at).length === 0, "the end of it");
  await at.start("works");
  await at.start("asks");
  await until(() => lastOf(at, "ask.raised") > 0, "the ask");
  await until(() => Number(at.store.records.setting("notified")) >= lastOf(at, "ask.raised"), "the events");
  assert.equal(hook.got.length, 1);
  assert.deepEqual(waiting(at), []);
});

test("after a day of failures a notice is given up", async (t) => {
  const [at, hook] = [await opened(t), await receiver(t)];
  hook.state.reply = status(500);
  at.notify(hook.config);
  await at.start("works");
  let tries = 0;
  for (; tries < 60 && waiting(at).length + (tries === 0 ? 1 : 0) > 0; tries += 1) {
    const before = tries;
    await until(() => hook.got.length > before && (waiting(at)[0]?.tries ?? Infinity) > before, `try ${before}`);
    at.clock.advance(72 * 60 * 1000);
  }
  assert.ok(tries > 20 && tries < 60, String(tries));
  assert.match(at.logged(), /gave up delivering a notice/);
});

test("invariant 3: a kill after the event or between two tries loses no notice, and the id stays", async (t) => {
  const hook = await receiver(t);
  hook.state.reply = status(500);
  const first = await opened(t);
  first.notify(hook.config);
  await first.start("asks");
  await until(() => waiting(first)[0]?.tries === 1, "the first try");
  const second = await killed(first, t);
  // This happens while nobody notifies; the next start sends its notice.
  await second.start("works");
  await until(() => second.store.unfinishedTrees().length === 1, "the end of the work");
  const third = await killed(second, t);
  hook.state.reply = status(200);
  const before = hook.got.length;
  third.notify(hook.config);
  third.clock.advance(7_000);
  await until(() => hook.got.length === before + 2 && waiting(third).length === 0, "both");
  const kinds = hook.got.slice(before).map(({ notice }) => notice.kind);
  assert.deepEqual(kinds.toSorted(), ["ask", "finished"]);
  const again = hook.got.slice(before).find(({ notice }) => notice.kind === "ask");
  assert.equal(again?.id, hook.got[0]?.id);
});

test("the first start, and the first after notifications were off, send no notices of what was before", async (t) => {
  const [at, hook] = [await opened(t), await receiver(t)];
  await at.start("asks");
  await until(() => lastOf(at, "ask.raised") > 0, "the ask");
  const first = at.notify(hook.config);
  await at.start("works");
  await until(() => hook.got.length === 1, "the notice");
  assert.equal(hook.got[0]?.notice.kind, "finished");
  await first.close();
  await at.notify({}).close();
  await at.start("fails");
  await until(() => at.store.unfinishedTrees().length === 1, "the end of it");
  at.notify(hook.config);
  await at.start("works");
  await until(() => hook.got.length === 2, "the next notice");
  assert.equal(hook.got[1]?.notice.kind, "finished");
});

test("invariant 9: with slow reads, every ask makes one notice, whether raised before the start or after", async (t) => {
  const hook = await receiver(t);
  const at = await openWorld(tempFolder(t), fakeClock(), lateView);
  t.after(() => at.stop());
  await at.notify(hook.config).close();
  const tasks: string[] = [];
  let notifier: ReturnType<typeof startNotifier> | undefined;
  for (let turn = 0; turn < 40; turn += 1) {
    tasks.push(await at.start("asks"));
    // Closing does not wait for it to have caught up.
    if (turn % 8 === 3) await notifier?.close();
    if (turn % 8 === 3) notifier = at.notify(hook.config);
    await sleep(turn % 3);
  }
  // A notice that was on its way when the notifier was closed is sent again, under the same id.
  const arrived = () => new Map(hook.got.map(({ id, notice }) => [id, notice.task]));
  await until(() => arrived().size >= tasks.length && waiting(at).length === 0, "all notices");
  await settle();
  assert.deepEqual([...arrived().values()].toSorted(), tasks.toSorted());
  assert.doesNotMatch(at.logged(), /no more notices/);
});

test("no notice is sent of an ask that was answered meanwhile", async (t) => {
  const [at, hook] = [await opened(t), await receiver(t)];
  hook.state.reply = status(500);
  at.notify({ ...hook.config, on: ["ask"] });
  await at.start("asks");
  await until(() => waiting(at)[0]?.tries === 1, "the first try");
  await at.engine.deliver(hook.got[0]?.notice.ask?.id ?? "", answer("red"), person);
  at.clock.advance(7_000);
  await until(() => waiting(at).length === 0, "the end of it");
  assert.equal(hook.got.length, 1);
});

test("without its secret a webhook is not used, the log says so, and what waits for it is kept", async (t) => {
  const [at, hook] = [await opened(t), await receiver(t)];
  hook.state.reply = status(500);
  const first = at.notify(hook.config);
  await at.start("works");
  await until(() => waiting(at)[0]?.tries === 1, "the first try");
  await first.close();
  const second = at.notify(hook.config, { HOOK_SECRET: "short" });
  assert.match(at.logged(), /HOOK_SECRET/);
  assert.ok(!at.logged().includes('short"'));
  await at.start("works");
  await second.close();
  assert.equal(waiting(at).length, 1);
  await at.notify({}).close();
  await at.store.committed();
  assert.equal(waiting(at).length, 0);
});

/** A program of the test's own. */
function program(folder: string, name: string, lines: string): string {
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\n${lines}\n`);
  chmodSync(path, 0o755);
  return path;
}

test("a command gets the notice on its input and in its environment, and what it says is logged", async (t) => {
  const at = await opened(t);
  const out = join(at.folder, "out");
  const script = `cat > "$1.part"; printf '%s|%s|%s' "$TUTTI_KIND" "$TUTTI_TITLE" "$TUTTI_TASK" >> "$1.part"; echo heard; mv "$1.part" "$1"`;
  at.notify({ command: [program(at.folder, "tell", script), out, "a b; c"] });
  const name = await at.start("works");
  await until(() => existsSync(out) && waiting(at).length === 0, "the command");
  const [body = "", variables] = readFileSync(out, "utf8").split("\n");
  assert.equal(Notice.parse(JSON.parse(body)).task, name);
  assert.equal(variables, `finished|works has finished|${name}`);
  assert.match(at.logged(), /heard/);
});

test("a command that fails is tried three times and no more, over restarts too", async (t) => {
  const first = await opened(t);
  const count = join(first.folder, "count");
  const config = { command: [program(first.folder, "tell", `echo x >> ${count}; exit 3`)] };
  first.notify(config);
  await first.start("works");
  const runs = (): number => (existsSync(count) ? readFileSync(count, "utf8").length / 2 : 0);
  await until(() => runs() === 1 && first.logged().includes("status 3"), "the first run");
  const second = await killed(first, t);
  second.notify(config);
  for (const run of [2, 3]) {
    second.clock.advance(20_000);
    await until(() => runs() === run, `run ${run}`);
    await until(() => second.logged().match(/status 3/g)?.length === run - 1, `the end of run ${run}`);
  }
  await until(() => waiting(second).length === 0, "the end of it");
  second.clock.advance(3_600_000);
  assert.equal(runs(), 3);
});

test("a command that does not end is ended with what it started", async (t) => {
  const at = await opened(t);
  const pids = join(at.folder, "pids");
  const script = `trap '' TERM; sleep 300 & echo $! > ${pids}.part; echo $$ >> ${pids}.part; mv ${pids}.part ${pids}; wait; wait; sleep 300`;
  at.notify({ command: [program(at.folder, "hang", script)] });
  await at.start("works");
  await until(() => existsSync(pids), "the command");
  at.clock.advance(30_000);
  at.clock.advance(2_000);
  await until(() => at.logged().includes("did not end in 30 s"), "the end of the try");
  const alive = readFileSync(pids, "utf8")
    .trim()
    .split("\n")
    .filter((pid) => isAlive(Number(pid)));
  assert.deepEqual(alive, []);
});

/** A killed process that nobody has waited for yet is not alive. */
function isAlive(pid: number): boolean {
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

test("a command that cannot be run is given up and does not crash the daemon", async (t) => {
  const at = await opened(t);
  at.notify({ command: [join(at.folder, "nothing-there")] });
  await at.start("works");
  await until(() => at.logged().includes("ENOENT"), "the try");
});

test("a command that cannot be started does not keep other targets from getting the notice", async (t) => {
  const at = await opened(t);
  const { got, config } = await receiver(t);
  at.notify({ ...config, command: [join(at.folder, "log", "below-a-file")] });
  await at.start("works");
  await until(() => got.length === 1, "the webhook");
  await until(() => at.logged().includes("ENOTDIR"), "the try");
  await at.start("works");
  await until(() => got.length === 2, "the next");
  assert.doesNotMatch(at.logged(), /no more notices are sent/);
});

test("a try that a wrong clock put far into the future is made when the clock is right again", async (t) => {
  const at = await opened(t);
  const { got, config, state } = await receiver(t);
  state.reply = (response) => void response.writeHead(500).end();
  const notifier = at.notify(config);
  await at.start("works");
  await until(() => got.length === 1 && waiting(at)[0]?.tries === 1, "the first try");
  await notifier.close();
  const [row] = waiting(at);
  assert.ok(row !== undefined);
  at.store.records.putNotice({ ...row, due: at.clock.now() + 365 * 24 * 60 * 60 * 1000 });
  await at.store.committed();
  state.reply = (response) => void response.writeHead(204).end();
  at.notify(config);
  await until(() => got.length === 2, "the second try");
});

test("closing ends a command that is under way, and its notice stays", async (t) => {
  const at = await opened(t);
  const started = join(at.folder, "started");
  const script = `echo $$ > ${started}.part; mv ${started}.part ${started}; sleep 300`;
  const notifier = at.notify({ command: [program(at.folder, "hang", script)] });
  await at.start("works");
  await until(() => existsSync(started), "the command");
  await notifier.close();
  assert.equal(isAlive(Number(readFileSync(started, "utf8"))), false);
  assert.equal(waiting(at).length, 1);
});

test(
  "the desktop is used if there is one, and text is passed as arguments",
  { skip: process.platform !== "linux" },
  async (t) => {
    const at = await opened(t);
    const out = join(at.folder, "out");
    program(at.folder, "notify-send", `printf '%s\\n' "$@" > ${out}.part; mv ${out}.part ${out}`);
    const path = { PATH: `${at.folder}:${process.env["PATH"] ?? ""}` };
    await at.notify({ desktop: "auto" }, path).close();
    assert.equal(at.store.records.setting("notified"), undefined);
    at.notify({ desktop: "auto" }, { ...path, DISPLAY: ":0" });
    await at.start("asks");
    await until(() => existsSync(out) && waiting(at).length === 0, "the desktop");
    assert.deepEqual(readFileSync(out, "utf8").trimEnd().split("\n").slice(-3), ["--", "asks asks", "which?"]);
  },
);

test("invariant 3: whenever it is killed and however the receiver answers, every ask arrives, none under two ids", async () => {
  const move = fc.constantFrom("ask", "kill", "kill in the middle", "fail", "work");
  await fc.assert(
    fc.asyncProperty(fc.array(move, { minLength: 1, maxLength: 8 }), async (moves) => {
      const undo: (() => unknown)[] = [];
      const own = { after: (fn: () => unknown) => void undo.push(fn) } as Pick<TestContext, "after">;
      try {
        const hook = await receiver(own);
        let at = await openWorld(tempFolder(own));
        const tasks = new Set<string>();
        at.notify(hook.config);
        await at.store.committed();
        for (const each of moves) {
          if (each === "ask") tasks.add(await at.start("asks"));
          if (each === "fail") hook.state.reply = status(500);
          if (each === "work") hook.state.reply = status(200);
          if (each === "kill") await settle();
          if (each.startsWith("kill")) {
            at = await killed(at, own);
            at.notify(hook.config);
          }
        }
        hook.state.reply = status(200);
        const arrived = (): number => new Set(hook.got.map(({ notice }) => notice.task)).size;
        for (let tries = 0; tries < 50 && (arrived() < tasks.size || waiting(at).length > 0); tries += 1) {
          at.clock.advance(20_000);
          await sleep(5);
        }
        assert.deepEqual(new Set(hook.got.map(({ notice }) => notice.task)), tasks);
        assert.equal(new Set(hook.got.map(({ id }) => id)).size, tasks.size);
        await at.stop();
      } finally {
        for (const fn of undo.toReversed()) await fn();
      }
    }),
    { numRuns: 25 },
  );
});
