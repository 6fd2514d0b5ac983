import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, openSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { tempFolder } from "../../../test/support/temp-folder.ts";
import { redactor } from "../../core/redaction/redact.ts";
import { openLog } from "./log.ts";
import { prettyLine } from "./pretty-line.ts";

const secret = 'sk-"quoted"\\secret';
const redact = redactor([{ name: "KEY", value: secret }]);
const handle = `wh-${"0123456789abcdef".repeat(2)}`;

function linesOf(file: string): Record<string, unknown>[] {
  return readFileSync(file, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
}

test("no secret reaches the file, wherever in a line it is", (t) => {
  const file = join(tempFolder(t), "log");
  const { log, close } = openLog({ level: "info", file, redact });
  log.info({ key: secret, nested: [{ [secret]: handle }] }, `message with ${secret}`);
  log.child({ of: secret }).error({ err: new Error(`cause ${secret}`), error: new Error(handle) });
  log.info({
    headers: { authorization: "unknown-1" },
    req: { headers: { cookie: "unknown-2", "set-cookie": "unknown-3" } },
  });
  log.info({ authorization: "unknown-4", message: JSON.stringify(JSON.stringify({ deep: secret })) }, "%s", secret);
  log.debug("not at this level");
  close();
  log.info("after the end");
  const text = readFileSync(file, "utf8");
  assert.equal(linesOf(file).length, 4);
  assert.equal(linesOf(file)[0]?.["msg"], "message with [redacted:KEY]");
  assert.equal(linesOf(file)[0]?.["level"], "info");
  for (const value of [secret, JSON.stringify(secret).slice(1, -1), "quoted", handle, "unknown-"]) {
    assert.ok(!text.includes(value), `${value} in ${text}`);
  }
});

test("a log file is readable by its owner alone, is appended to, and is kept as .1 when it has grown large", (t) => {
  const file = join(tempFolder(t), "log");
  writeFileSync(file, "before\n", { mode: 0o644 });
  const first = openLog({ level: "info", file, redact });
  first.log.info("one");
  first.close();
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.match(readFileSync(file, "utf8"), /^before\n\{.*"msg":"one"\}\n$/);
  assert.equal(existsSync(`${file}.1`), false);
  writeFileSync(file, "x".repeat(10 * 1024 * 1024 + 1));
  const second = openLog({ level: "info", file, redact });
  second.log.info("two");
  second.close();
  assert.equal(linesOf(file).length, 1);
  assert.equal(statSync(`${file}.1`).size, 10 * 1024 * 1024 + 1);
});

test("a file that stderr goes to is kept as .1 while it grows, and nothing of it is lost", async (t) => {
  const file = join(tempFolder(t), "daemon.log");
  const limit = 10 * 1024 * 1024;
  const earlier = `${"x".repeat(limit - 1_000)}\n`;
  writeFileSync(file, earlier, { mode: 0o600 });
  const descriptor = openSync(file, "a");
  const { ended } = await logging(
    `const { log } = openLog({ level: "info", stderrFile: ${JSON.stringify(file)}, redact });
     for (let line = 0; line < 20; line += 1) log.info({ line }, "y".repeat(100));
     process.stderr.write("{}\\n");`,
    descriptor,
  );
  closeSync(descriptor);
  assert.equal((await ended).status, 0);
  assert.ok(statSync(file).size < 10_000, `${statSync(file).size} bytes`);
  assert.ok(statSync(`${file}.1`).size >= limit);
  assert.equal(statSync(`${file}.1`).mode & 0o777, 0o600);
  const lines = (readFileSync(`${file}.1`, "utf8") + readFileSync(file, "utf8"))
    .slice(earlier.length)
    .trim()
    .split("\n");
  assert.deepEqual(
    lines.map((line) => JSON.parse(line).line),
    [...Array.from({ length: 20 }).keys(), undefined],
  );
});

test("a stderr that is another file than ours is never emptied", async (t) => {
  const folder = tempFolder(t);
  const [file, other] = [join(folder, "daemon.log"), join(folder, "other.log")];
  for (const path of [file, other]) writeFileSync(path, "x".repeat(10 * 1024 * 1024));
  const descriptor = openSync(other, "a");
  const { ended } = await logging(
    `const { log } = openLog({ level: "info", stderrFile: ${JSON.stringify(file)}, redact }); log.info("a"); log.info("b");`,
    descriptor,
  );
  closeSync(descriptor);
  await ended;
  assert.ok(statSync(other).size > 10 * 1024 * 1024);
  assert.equal(existsSync(`${file}.1`) || existsSync(`${other}.1`), false);
});

test("a full disk loses lines and nothing else", { skip: !existsSync("/dev/full") }, () => {
  const { log, close } = openLog({ level: "info", file: "/dev/full", redact });
  log.info("nowhere");
  log.error("to go");
  close();
});

/** Runs a module that logs, with the given stderr. */
async function logging(lines: string, stderr: "pipe" | "ignore" | number) {
  const code = `import { openLog } from ${JSON.stringify(join(import.meta.dirname, "log.ts"))};
    const redact = (text) => text;
    ${lines}
    process.stdout.write("still here");`;
  const child = spawn(process.execPath, ["--input-type=module-typescript", "-e", code], {
    stdio: ["ignore", "pipe", stderr],
  });
  let [out, err] = ["", ""];
  child.stdout?.on("data", (data: Buffer) => (out += data.toString()));
  child.stderr?.on("data", (data: Buffer) => (err += data.toString()));
  return { child, ended: once(child, "close").then(([status]) => ({ status: Number(status), out, err })) };
}

test("a stderr that is closed does not end the process", async () => {
  const read = openSync("/dev/null", "r");
  const { ended } = await logging(
    `const { log } = openLog({ level: "info", redact }); log.info("a"); log.warn("b");`,
    read,
  );
  closeSync(read);
  const { status, out } = await ended;
  assert.deepEqual({ status, out }, { status: 0, out: "still here" });
});

test("a reader of stderr that went away does not end the process", async () => {
  const { child, ended } = await logging(
    `const { log } = openLog({ level: "info", redact });
     for (let line = 0; line < 200; line += 1) { log.info("x".repeat(1000)); await new Promise((go) => setImmediate(go)); }`,
    "pipe",
  );
  child.stderr?.once("data", () => child.stderr?.destroy());
  const { status, out } = await ended;
  assert.deepEqual({ status, out }, { status: 0, out: "still here" });
});

test("if the log file cannot be opened, stderr says so and gets the lines", async () => {
  const { ended } = await logging(
    `const { log, close } = openLog({ level: "info", file: "/nowhere/at/all", redact }); log.info("hello"); close();`,
    "pipe",
  );
  const { status, err } = await ended;
  assert.equal(status, 0);
  assert.match(err, /ENOENT[^]*hello/);
});

test("a pretty line is one short line without control codes", (t) => {
  const time = new Date(2026, 0, 2, 3, 4, 5).getTime();
  const line = JSON.stringify({
    level: "warn",
    time,
    pid: 1,
    task: "tsk_1",
    why: "two words",
    n: 3,
    msg: "a\u001b[2Jb\nc",
  });
  assert.equal(prettyLine(line), '03:04:05 warn  a\\u001b[2Jb c task=tsk_1 why="two words" n=3\n');
  assert.equal(prettyLine("no json\u001b[1m\n"), "no json\\u001b[1m\n");
  const file = join(tempFolder(t), "log");
  const { log, close } = openLog({ level: "info", file, pretty: true, redact });
  log.info({ key: secret, err: new Error("broke") }, "hi");
  close();
  assert.match(readFileSync(file, "utf8"), /^\d\d:\d\d:\d\d info {2}hi key=\[redacted:KEY\] err=broke\n$/);
});
