// The commands of the daemon, and the other commands while a daemon runs, as real processes.
import assert from "node:assert/strict";
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";

import { z } from "zod";

import { ServiceStatus } from "../../protocol/api/service.ts";
import { TaskSummary } from "../../protocol/task/task-view.ts";
import { example, openIn, up, waiting } from "../../../test/support/cli-daemon.ts";
import { bench, type Bench, type Ended } from "../../../test/support/cli-process.ts";

const treeOf = (b: Bench, task: string): TaskSummary[] =>
  z.object({ tree: z.array(TaskSummary) }).parse(JSON.parse(b.run("show", "--json", task).out)).tree;

const failsWith = ({ status, err }: Ended, wanted: number, says: RegExp): void => {
  assert.equal(status, wanted, err);
  assert.match(err, says);
  assert.equal(err.trimEnd().split("\n").length, 1, err);
};

describe("up and down", () => {
  test("up prints its address, its key file, its work and how to stop it; a signal ends it with status 0", async (t) => {
    const b = bench(t);
    const serving = b.start("up", "--port", "0");
    const [, url = ""] = await serving.said(/tutti up at (http:\/\/127\.0\.0\.1:\d+) \(process \d+, .*\)/);
    const [said] = await serving.said(
      / {2}state .*\n {2}key .*admin\.key.*\n {2}page .*tutti open.*\n {2}work .*\n {2}stop .*Ctrl-C.*\n/,
    );
    assert.ok(said.includes(b.state));
    assert.equal((await fetch(`${url}/healthz`)).status, 200);
    assert.equal(statSync(join(b.state, "admin.key")).mode & 0o077, 0);
    const again = b.run("up");
    assert.deepEqual([again.status, again.err], [0, ""]);
    assert.match(again.out, new RegExp(`^tutti already running at ${url} `));
    serving.child.kill("SIGTERM");
    assert.equal((await serving.ended).status, 0);
    assert.ok(!existsSync(join(b.state, "daemon.json")));
  });

  test("up with another port than that of the running daemon says so, and options that change nothing are named", (t) => {
    const b = bench(t);
    const { url, pid } = up(b);
    const { port } = new URL(url);
    const other = port === "7999" ? "7998" : "7999";
    for (const args of [
      ["--port", other],
      ["--port", other, "--detach"],
    ]) {
      failsWith(
        b.run("up", ...args),
        7,
        new RegExp(`process ${pid}, runs already at ${url}, on port ${port}, not ${other}; `),
      );
    }
    assert.equal(b.run("up", "--port", port).status, 0);
    assert.match(b.run("up", "--min-free", "1").err, /keeps its own --min-free; to change that, stop it/);
  });

  test("work that waits because of a pause is said to, wherever it is shown", async (t) => {
    const b = bench(t);
    up(b);
    b.run("pause");
    const [task = ""] = b.run("invoke", "--detach", "--new", example("single")).out.split("\n");
    const says = /paused: nothing new begins until `tutti resume/;
    const shown = [["tasks"], ["show", task], ["invoke", "--detach", example("single")]];
    for (const args of shown) {
      const { out, err } = b.run(...args);
      assert.match(out + err, says, args.join(" "));
    }
    assert.match(b.run("up").out, /paused, nothing new begins until `tutti resume`/);
    const waits = b.start("invoke", example("single"));
    await waits.said(says);
    b.run("down");
    for (const args of [["tasks"], ["show", task]]) {
      const { out, err } = b.run(...args);
      assert.match(out + err, says, "without a daemon, too");
    }
    assert.match(b.run("status").out, /paused/);
    waits.child.kill("SIGKILL");
    await waits.ended;
  });

  test("up --detach returns when the daemon answers; down stops it, and says when there is none", (t) => {
    const b = bench(t);
    const first = up(b);
    assert.equal(first.existed, false);
    assert.deepEqual([up(b).pid, up(b).existed], [first.pid, true]);
    const running = ServiceStatus.extend({ running: z.literal(true), command: z.literal(false) }).parse(
      JSON.parse(b.run("status", "--json").out),
    );
    assert.deepEqual([running.url, running.pid], [first.url, first.pid]);
    assert.match(b.run("status").out, new RegExp(`^running at ${first.url} `));
    assert.deepEqual(JSON.parse(b.run("down", "--json").out), { stopped: true });
    assert.deepEqual(JSON.parse(b.run("down", "--json").out), { stopped: false });
    assert.equal(b.run("down").out, "no daemon was running\n");
    const status: unknown = JSON.parse(b.run("status", "--json").out);
    assert.partialDeepStrictEqual(status, { running: false, worker: null, asks: 0 });
  });

  test("up refuses wrong options before the daemon starts", (t) => {
    const b = bench(t);
    const cases: [string[], number, RegExp][] = [
      [["--host", "0.0.0.0"], 5, /--tls-cert and --tls-key, or --insecure/],
      [["--tls-cert", "x"], 2, /both/],
      [["--port", "99999"], 2, /port/],
      [["--grace", "soon"], 2, /seconds/],
      [["--log-level", "loud"], 2, /loud is no log level/],
    ];
    for (const [args, status, says] of cases) {
      const ended = b.run("up", ...args);
      assert.equal(ended.status, status, `${args.join(" ")}: ${ended.err}`);
      assert.match(ended.err, says);
    }
    assert.ok(!existsSync(join(b.state, "daemon.json")));
  });

  test("status starts nothing, whether there is no state or a command works on it", async (t) => {
    const b = bench(t);
    assert.match(b.run("status").out, /^not running; start it with `tutti up --state .*\n.*nothing there yet\n$/);
    assert.ok(!existsSync(b.state));
    const asking = b.start("invoke", "--wait", example("ask"));
    await asking.said(/ask\.raised/);
    const status: unknown = JSON.parse(b.run("status", "--json").out);
    assert.partialDeepStrictEqual(status, {
      running: true,
      command: true,
      pid: asking.child.pid,
      tasks: { running: 1, input_required: 1 },
      asks: 1,
    });
    assert.match(b.run("status").out, /\n {2}by +a command, which serves others until its own work is done\n/);
    failsWith(b.run("up"), 7, new RegExp(`a command, process ${asking.child.pid}, works on`));
    asking.child.kill("SIGKILL");
    await asking.ended;
  });
});

describe("with a daemon", () => {
  test("invoke and agents run work through it, with the same output and exit statuses", (t) => {
    const b = bench(t);
    const { pid } = up(b);
    const all = b.run("invoke", example("all"));
    assert.equal(all.status, 8, all.err);
    assert.match(all.out, /North: snow\.\n.*South: quiet\.\n.*Plains\.\n✗ .* that part of the map is missing/);
    assert.match(all.err, /task\.created[^]*5 tasks, .* a rehearsal/);
    const json = b.run("invoke", "--json", example("single"));
    assert.deepEqual([json.status, json.err], [0, ""]);
    assert.partialDeepStrictEqual(JSON.parse(json.out), { status: "completed", rehearsal: true });
    const script = join("examples", "project", "script.json");
    const place = ["--cwd", join("examples", "project"), "--script", script];
    const run = b.run("agents", "run", "lead", "What is this?", ...place);
    assert.deepEqual([run.status, run.out], [0, "A list of three instruments in one file.\n"], run.err);
    assert.match(run.err, /^ {2}I look around first\.$/m);
    assert.match(run.err, /^ {4}✓ 3$/m);
    const bad = b.run("invoke", b.file("bad.json", { invocation: { targets: [{ agent: { type: "named" } }] } }));
    failsWith(bad, 3, /^tutti: .*invocation\.targets\[0\]\.message: /);
    failsWith(b.run("invoke", join("examples", "reply.txt")), 3, /is not JSON/);
    assert.equal(z.object({ pid: z.number() }).parse(JSON.parse(b.run("status", "--json").out)).pid, pid);
    for (const command of ["show", "logs", "export", "cancel"]) {
      failsWith(b.run(command, "tsk_0_1"), 4, /^tutti: there is no task tsk_0_1$/m);
    }
  });

  test("Ctrl-C leaves the work running and says how to follow it", async (t) => {
    const b = bench(t);
    up(b);
    const asking = b.start("invoke", "--wait", example("ask"));
    const [, ask = ""] = await asking.said(
      /waiting for an answer to (ask_\w+); answer it with `tutti answer ask_\w+ … --state .*`/,
    );
    asking.child.kill("SIGINT");
    const { status, err } = await asking.ended;
    assert.equal(status, 130);
    const [, task = ""] = /the daemon goes on with it, follow it with `tutti attach (tsk_\w+) --state/.exec(err) ?? [];
    assert.equal(b.run("answer", ask, "blue").status, 0);
    const again = b.start("invoke", "--wait", example("ask"));
    await again.said(new RegExp(`going on with ${task}, which was not finished`));
    const [, next = ""] = await again.said(/waiting for an answer to (ask_\w+)/);
    assert.equal(b.run("answer", next, "n: too expensive").status, 0);
    const ended = await again.ended;
    assert.equal(ended.status, 0, ended.err);
    assert.match(ended.out, /Nothing was ordered\./);
  });

  test("a command waits for a daemon that was killed and started again, and misses no event", async (t) => {
    const b = bench(t);
    const first = up(b);
    const asking = b.start("invoke", "--wait", example("ask"));
    const [, ask = ""] = await asking.said(/waiting for an answer to (ask_\w+)/);
    process.kill(first.pid, "SIGKILL");
    const second = up(b, []);
    assert.deepEqual([second.url, second.resumed > 0], [first.url, true], "the same place, with what was unfinished");
    assert.equal(b.run("answer", ask, "red").status, 0);
    const [, next = ""] = await asking.said(new RegExp(`waiting for an answer to (?!${ask})(ask_\\w+)`));
    assert.equal(b.run("answer", next, "y").status, 0);
    const { status, out, err } = await asking.ended;
    assert.equal(status, 0, err);
    assert.match(out, /Ordered\./);
    assert.equal(err.match(/task\.created +planner/g)?.length, 1, "no event is shown twice");
  });

  test("logs -f starts a daemon for unfinished tasks that no process works on; without a task it shows all", async (t) => {
    const b = bench(t);
    const asking = b.start("invoke", "--wait", example("ask"));
    await asking.said(/ask\.raised/);
    asking.child.kill("SIGINT");
    await asking.ended;
    const all = b.start("logs", "-f");
    await all.said(/no process worked on it: started a daemon at/);
    const [, ask = ""] = await all.said(/ask\.raised +(ask_\w+)/);
    assert.equal(b.run("answer", ask, "red").status, 0);
    const [, next = ""] = await all.said(new RegExp(`ask\\.raised +(?!${ask})(ask_\\w+)`));
    assert.equal(b.run("answer", next, "yes").status, 0);
    await all.said(/task\.completed +Ordered\.[^]*task\.completed +Ordered\./);
    all.child.kill("SIGINT");
    await all.ended;
    assert.match(b.run("logs").out, /^[\d:.]+ tsk_\w+ task\.created[^]*Ordered\.\n$/);
  });
});

describe("questions", () => {
  test("can be listed and answered from any terminal; wrong and late answers are refused with a reason", async (t) => {
    const b = bench(t);
    const { task, ask } = await waiting(b, "ask");
    assert.match(
      b.run("asks").out,
      new RegExp(`\\? ${ask} {2}tsk_\\w+, 23 h .* left\n {2}Which colour .*\n {4}One of: red \\| blue\n`),
    );
    assert.equal(openIn(b).asks[0]?.id, ask);
    assert.doesNotMatch(b.run("asks").out, /answer with/, "the hint on how to answer goes to standard error");
    failsWith(b.run("answer", ask, "green"), 3, /must be one of: red, blue; answer with "red" \| "blue"/);
    failsWith(b.run("answer", ask), 2, /give the answer: tutti answer ask_\w+ --state \S+ "red" \| "blue"/);
    failsWith(b.run("answer", ask, "red", "--json-value", '"red"'), 2, /not both/);
    failsWith(b.run("answer", ask, "--json-value", "{"), 2, /not JSON/);
    assert.deepEqual(JSON.parse(b.run("answer", ask, "--json", "--json-value", '"red"').out), { ask, accepted: true });
    failsWith(b.run("answer", ask, "blue"), 4, /is not open: it was answered, .*`tutti asks --state \S+`/);
    const following = b.start("logs", "-f", task);
    const [, approval = ""] = await following.said(new RegExp(`ask\\.raised +(?!${ask})(ask_\\w+) approval`));
    failsWith(b.run("answer", approval, "perhaps"), 3, /answer y or n; a reason may follow a no/);
    failsWith(b.run("answer", approval, "--json-value", "1"), 3, /true or false/);
    assert.equal(b.run("answer", approval, "--json-value", "true").status, 0);
    const { status, out } = await following.ended;
    assert.equal(status, 0);
    assert.match(out, /ask\.answered +ask_\w+ by \S.*: red[^]*task\.completed +Ordered\.\n$/);
    assert.equal(b.run("asks").out, "nothing waits for an answer\n");
  });

  test("the result of a tool that the client runs is given with the same command", async (t) => {
    const b = bench(t);
    const { task, ask } = await waiting(b, "external");
    assert.match(b.run("asks", task).out, /Result of weather\n {4}\{"city":"Oslo"\}/);
    assert.equal(openIn(b).waits[0]?.id, ask);
    assert.equal(b.run("answer", ask, "rain").status, 0);
    const { out } = await b.start("logs", "-f", task).ended;
    assert.match(out, /Take a coat\./);
  });
});

describe("a task", () => {
  test("gets messages, and is canceled with all tasks below it", async (t) => {
    const b = bench(t);
    const { task } = await waiting(b, "ask");
    const child = treeOf(b, task)[1]?.id ?? "";
    assert.equal(b.run("message", child, "Make", "it", "quick.").status, 0);
    failsWith(b.run("message", child, " "), 2, /is empty/);
    assert.deepEqual(JSON.parse(b.run("cancel", task, "--reason", "no party", "--json").out), {
      canceled: [task, child],
    });
    assert.deepEqual(
      treeOf(b, task).map(({ status, result_preview }) => [status, result_preview?.text]),
      [
        ["canceled", "no party"],
        ["canceled", "no party"],
      ],
    );
    assert.match(b.run("cancel", task).out, /is over; there was nothing to cancel/);
    assert.equal(b.run("message", child, "Hello?").status, 7);
  });
});

describe("pause", () => {
  test("begins no new work until resume, also after a restart", async (t) => {
    const b = bench(t);
    assert.match(b.run("pause").out, /^paused: steps under way finish, nothing new begins until `tutti resume/);
    b.run("down");
    const [task = ""] = b.run("invoke", "--detach", example("single")).out.split("\n");
    assert.partialDeepStrictEqual(JSON.parse(b.run("status", "--json").out), { paused: true, tasks: { pending: 1 } });
    assert.match(b.run("status").out, /1 pending.*paused, nothing new begins/);
    assert.deepEqual(JSON.parse(b.run("resume", "--json").out), { paused: false });
    assert.match((await b.start("logs", "-f", task).ended).out, /task\.completed +hello\.txt is written\.\n$/);
  });
});

describe("keys and operators", () => {
  test("a key is shown once and allows what its role allows until it is revoked; the last admin key stays", async (t) => {
    const b = bench(t);
    const { url } = up(b);
    const added = b.run("keys", "add", "metrics", "--role", "viewer");
    assert.equal(added.status, 0, added.err);
    const key = added.out.trim();
    assert.match(key, /^tk_[\w-]{43}$/);
    const asked = (method: string, path: string): Promise<number> =>
      fetch(`${url}${path}`, { method, headers: { authorization: `Bearer ${key}` } }).then(({ status }) => status);
    assert.deepEqual([await asked("GET", "/v1/tasks"), await asked("POST", "/v1/pause")], [200, 403]);
    const listed = b.run("keys", "list");
    assert.match(listed.out, /^id +name +role +used by +made\n/);
    assert.ok(!listed.out.includes(key));
    const keys = z
      .array(z.object({ id: z.string(), name: z.string(), role: z.string() }))
      .parse(JSON.parse(b.run("keys", "list", "--json").out));
    const id = keys.find(({ name }) => name === "metrics")?.id ?? "";
    assert.equal(b.run("keys", "revoke", id).status, 0);
    assert.equal(await asked("GET", "/v1/tasks"), 401);
    assert.match(b.run("keys", "list").out, /metrics +viewer .* revoked .* ago/);
    failsWith(b.run("keys", "revoke", keys.find(({ role }) => role === "admin")?.id ?? ""), 7, /last admin key/);
    failsWith(b.run("keys", "revoke", "key_none"), 4, /no key key_none/);
    assert.equal(b.run("keys", "add", "x", "--role", "king").status, 2);
    failsWith(b.run("keys", "add", " ", "--role", "viewer"), 2, /cannot be called/);
  });

  test("operators are listed with their roles, their connection and what waits for them", async (t) => {
    const b = bench(t);
    const { url } = up(b);
    assert.equal(b.run("operators").out, "no operator has joined\n");
    const key = readFileSync(join(b.state, "admin.key"), "utf8").trim();
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const joined = await fetch(`${url}/v1/operators`, { method: "POST", headers, body: '{"roles":["builder"]}' });
    assert.equal(joined.status, 200);
    assert.match(b.run("operators").out, /^○ op-[0-9a-f-]+ {2}builder {2}seen .* ago\n$/);
    assert.partialDeepStrictEqual(JSON.parse(b.run("operators", "--json").out), [{ roles: ["builder"], pending: 0 }]);
  });
});

describe("hints", () => {
  test("a command to type has the --state of the command that names it", async (t) => {
    const b = bench(t);
    up(b);
    const invoking = b.start("invoke", "--wait", "--quiet", example("ask"));
    const [, command = ""] = await invoking.said(/waiting for an answer to ask_\w+; answer it with `(.*)`/);
    assert.match(command, /^tutti answer ask_\w+ … --state \S+$/);
    assert.ok(command.endsWith(b.state));
    invoking.child.kill("SIGKILL");
  });

  test("prune says how to stop the daemon, and doctor accepts a daemon that answers", (t) => {
    const b = bench(t);
    const { url } = up(b);
    failsWith(b.run("prune", "--older", "1d"), 7, new RegExp(`the daemon at ${url} works on .*\`tutti down --state `));
    assert.match(b.run("doctor").out, new RegExp(`^ok +state .*worked on by the daemon at ${url}$`, "m"));
  });
});

test("without the daemon's key file, reading commands warn and read the folder", (t) => {
  const b = bench(t);
  up(b);
  b.run("invoke", "--quiet", example("single"));
  rmSync(join(b.state, "admin.key"));
  const looked = b.run("tasks");
  assert.equal(looked.status, 0, looked.err);
  assert.match(looked.err, /admin\.key is gone.*what follows is read from/);
  assert.match(looked.out, /✓ tsk_\w+ {2}completed {2}writer {2}/);
  failsWith(b.run("cancel", "tsk_0_1"), 5, /admin\.key is gone/);
});

describe("missing files and states", () => {
  test("an invalid invocation is refused before a daemon is started for it", (t) => {
    const b = bench(t);
    writeFileSync(join(b.folder, "empty.json"), "{}");
    failsWith(b.run("invoke", "--detach", "empty.json"), 3, /the invocation cannot be used: .*invocation: is missing/);
    assert.ok(!existsSync(b.state));
  });

  test("a missing state, task or folder starts no daemon and makes no folder", (t) => {
    const b = bench(t);
    for (const args of [["cancel", "tsk_0_1"], ["message", "tsk_0_1", "x"], ["answer", "ask_0_1", "y"], ["asks"]]) {
      failsWith(b.run(...args), 4, /^tutti: there is no state in /);
    }
    failsWith(b.run("prune", "--older", "1d"), 4, /^tutti: there is no state in /);
    assert.ok(!existsSync(b.state));
    writeFileSync(join(b.folder, "file"), "");
    failsWith(b.run("agents", "run", "lead", "x", "--cwd", "/nope"), 4, /^tutti: there is no folder \/nope$/m);
    failsWith(b.run("agents", "run", "lead", "x", "--cwd", "file"), 3, /^tutti: file is a file; name a folder$/m);
  });
});
