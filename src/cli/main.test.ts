// The command line as real processes: help, usage errors, batches, and the commands for the protocols.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";

import { errorTable } from "../protocol/error.ts";
import { examples } from "./examples.ts";

const root = join(import.meta.dirname, "..", "..");
const bin = join(root, "bin", "tutti.js");
const folder = mkdtempSync(join(tmpdir(), "tutti-cli-"));
after(() => {
  // The examples start a daemon; should one of them fail, it must not be left behind.
  spawnSync(process.execPath, [bin, "down", "--force", "--state", "state"], { cwd: folder });
  rmSync(folder, { recursive: true, force: true });
});

function tutti(args: readonly string[], input: string | Buffer = "") {
  const child = spawnSync(process.execPath, [bin, ...args], {
    cwd: folder,
    input,
    encoding: "utf8",
    timeout: 240_000,
    maxBuffer: 256 * 1024 * 1024,
    env: { ...process.env, NO_COLOR: "1" },
  });
  return { status: child.status, out: child.stdout, err: child.stderr };
}
const lines = (text: string): Record<string, unknown>[] =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));

describe("help", () => {
  test("without a command, a short page says what to do first and where to read on", () => {
    const { status, out } = tutti([]);
    assert.equal(status, 0);
    assert.match(out, /^Start here\n {2}tutti up --tour [^]*^Read on\n {2}tutti --help/m);
  });

  test("every command has an example", () => {
    const { out } = tutti(["--help"]);
    const listed = [...out.matchAll(/^ {2}([a-z]+) /gm)].flatMap(([, name = ""]) => (name === "help" ? [] : [name]));
    assert.ok(listed.length >= 12, listed.join(" "));
    for (const name of listed) {
      assert.ok(
        examples.some(({ command }) => command.split(" ")[0] === name),
        `${name} has no example`,
      );
    }
  });

  test("every command has one file, named after it", () => {
    const files = readdirSync(join(import.meta.dirname, "commands")).filter((file) => !file.endsWith(".test.ts"));
    // A name that is taken elsewhere in the tree has `-command` after it; with that, `run` would be taken, too.
    const commands = files.map((file) => file.replace(/(-command|-goal)?\.ts$/, ""));
    const wanted = new Set(examples.map(({ command }) => command.replaceAll(" ", "-")));
    assert.deepEqual(commands.toSorted(), [...wanted].toSorted());
  });

  test("every command has --json and shows its examples in its help", () => {
    for (const [command, own] of Map.groupBy(examples, (example) => example.command)) {
      const { out } = tutti([...command.split(" "), "--help"]);
      assert.match(out, /^ {2}--json /m, command);
      for (const { run } of own) assert.ok(out.includes(run), run);
    }
    assert.match(JSON.parse(tutti(["version", "--json"]).out).version, /^\d+\.\d+\.\d+/);
  });

  test("every example in the help runs as it is written", () => {
    cpSync(join(root, "examples"), join(folder, "examples"), { recursive: true });
    for (const { run } of examples) {
      const shell = spawnSync("sh", ["-c", `tutti() { "${process.execPath}" "${bin}" "$@"; }; ${run}`], {
        cwd: folder,
        // Contexts are kept in the home folder.
        env: { ...process.env, HOME: folder },
        encoding: "utf8",
        timeout: 240_000,
      });
      assert.equal(shell.status, 0, `${run}\n${shell.stderr}`);
      assert.notEqual(shell.stdout.trim(), "", run);
    }
  });

  test("a wrong option gives status 2 and one line that names the help", () => {
    const { status, out, err } = tutti(["route", "--nope"]);
    assert.equal(status, errorTable.usage.exit);
    assert.equal(out, "");
    assert.match(err, /^tutti: unknown option '--nope'; see `tutti route --help`\n$/);
  });

  test("-v is the version, too", () => {
    assert.deepEqual(tutti(["-v"]), tutti(["--version"]));
  });

  test("the help of a command that does not exist is an error that suggests another one", () => {
    for (const args of [
      ["taskz", "--help"],
      ["taskz", "-h"],
      ["help", "taskz"],
    ]) {
      const { status, out, err } = tutti(args);
      assert.deepEqual([status, out], [errorTable.usage.exit, ""], args.join(" "));
      assert.match(err, /^tutti: unknown command 'taskz' \(Did you mean tasks\?\); see `tutti --help`\n$/);
    }
    const below = tutti(["keys", "lst", "--help"]);
    assert.deepEqual([below.status, below.out], [errorTable.usage.exit, ""]);
    assert.match(below.err, /unknown command 'lst' \(Did you mean list\?\); see `tutti keys --help`/);
    for (const args of [
      ["help", "tasks"],
      ["tasks", "--help"],
      ["route", "--help"],
      ["help"],
      ["keys", "help", "list"],
    ]) {
      assert.match(tutti(args).out, /^Usage: tutti/, args.join(" "));
    }
  });

  test("every error code has an exit status that the help explains", () => {
    const { out } = tutti(["--help"]);
    const explained = new Set([...out.matchAll(/(?:^|[,:] ?)(\d) /gm)].map((found) => Number(found[1])));
    for (const { exit } of Object.values(errorTable))
      assert.ok(explained.has(exit), `exit status ${exit} is not in the help`);
  });
});

describe("batch mode", () => {
  test("writes one result per line, in order, with an error for a bad line", () => {
    const input = [
      '{"id":"a","input":"```tool\\n{\\"name\\":\\"ls\\"}\\n```"}',
      "not json",
      '{"id":"b"}',
      "[1]",
      "",
      '{"id":"c","input":"hello","tools":"ls"}',
      '{"id":{"any":1},"input":"hello"}',
    ].join("\n");
    const { status, out } = tutti(["parse", "toolcalls", "--jsonl"], input);
    const answers = lines(out);
    assert.equal(status, 0);
    assert.deepEqual(
      answers.map((answer) => answer["id"]),
      ["a", null, "b", null, "c", { any: 1 }],
    );
    assert.deepEqual(answers[0]?.["calls"], [{ id: "tc_0", name: "ls", args: {} }]);
    assert.match(String(answers[1]?.["error"]), /line 2 is not JSON/);
    assert.match(String(answers[2]?.["error"]), /`input` must be a string/);
    assert.match(String(answers[3]?.["error"]), /line 4 is not a JSON object/);
    assert.match(String(answers[4]?.["error"]), /`tools` must be a list of strings/);
    assert.equal(answers[5]?.["prose"], "hello");
  });

  test("gives an input over the limit an error and goes on", () => {
    const input = `${JSON.stringify({ id: 1, input: "x".repeat(9 * 1024 * 1024) })}\n{"id":2,"input":"y"}\n`;
    const { out } = tutti(["parse", "decision", "--jsonl"], input);
    const answers = lines(out);
    assert.match(String(answers[0]?.["error"]), /over the limit of 8388608 bytes/);
    assert.deepEqual(answers[1], {
      id: 2,
      decision: { action: "respond", message: "y" },
      recovered: false,
      dropped: [],
    });
  });

  test("gives a line that is too long an error and goes on", () => {
    const input = `${"z".repeat(2_000_000)}\n{"id":2,"input":"y"}\n`;
    const answers = lines(tutti(["parse", "decision", "--jsonl", "--limit", "1000"], input).out);
    assert.match(String(answers[0]?.["error"]), /line 1 is over the limit of 1000 bytes/);
    assert.equal(answers[1]?.["id"], 2);
  });

  test("gives a line that is not UTF-8 an error and goes on", () => {
    const input = Buffer.concat([
      Buffer.from('{"id":1,"input":"'),
      Buffer.from([0xff]),
      Buffer.from('"}\n{"id":2,"input":""}\n'),
    ]);
    const answers = lines(tutti(["parse", "decision", "--jsonl"], input).out);
    assert.match(String(answers[0]?.["error"]), /line 1 is not UTF-8/);
    assert.equal(answers[1]?.["id"], 2);
  });

  test("ends without an error when the reader of its output goes away", async () => {
    const child = spawn(process.execPath, [bin, "parse", "decision", "--jsonl"], { cwd: folder });
    const ended = new Promise<number | null>((resolve) => child.on("exit", resolve));
    let err = "";
    child.stderr.on("data", (chunk: Buffer) => (err += chunk.toString()));
    child.stdin.on("error", () => undefined);
    child.stdout.once("data", () => child.stdout.destroy());
    for (let index = 0; index < 20_000; index += 1) child.stdin.write(`{"id":${index},"input":"${"w".repeat(100)}"}\n`);
    child.stdin.end();
    assert.equal(await ended, 0);
    assert.equal(err, "");
  });

  test("routes every handoff of the corpus as expected", () => {
    const corpus = readFileSync(join(root, "test", "corpus", "routing.jsonl"), "utf8");
    const answers = lines(tutti(["route", "--jsonl"], corpus).out);
    const cases = lines(corpus);
    assert.equal(answers.length, cases.length);
    cases.forEach(({ id, expect }, index) => {
      const { id: answered, model, reason, error } = answers[index] ?? {};
      assert.equal(answered, id);
      assert.deepEqual(error === undefined ? { model, reason } : { error }, expect, String(id));
    });
  });
});

describe("parse", () => {
  test("prints control codes as escapes, and --json keeps the value", () => {
    const evil = "x\u001b[2Jy\u009bz\u202e";
    const fence = (body: string): string => `\`\`\`tool\n${body}\n\`\`\`\n`;
    const call = fence(JSON.stringify({ name: "ls", args: { [evil]: evil } }));
    const reply = `<think>${evil} ${call}</think>\nprose ${evil}\n${call}${fence(`{"name": ${evil}`)}`;
    const delegate = { action: "delegate", tasks: [{ workdir: evil, prompt: evil, model: evil, more: evil }, evil] };
    const decisions = [delegate, { action: "respond", message: evil }, { action: "do_work", summary: evil }];
    const cases = [
      ["toolcalls", reply],
      ...decisions.map((decision) => ["decision", JSON.stringify(decision)]),
      ["decision", `Well ${evil}`],
    ] as const;
    // oxlint-disable-next-line no-control-regex -- controls are what this is about
    const codes = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/;
    for (const [what = "", input = ""] of cases) {
      const { status, out } = tutti(["parse", what], input);
      assert.equal(status, 0);
      assert.match(out, /x\\u001b\[2Jy\\u009bz\\u202e/, input);
      assert.doesNotMatch(out, codes, input);
      assert.ok(tutti(["parse", what, "--json"], input).out.includes("x\\u001b[2Jy"), input);
    }
  });
});

describe("route", () => {
  const handoff = readFileSync(join(root, "examples", "handoff.toon"), "utf8");

  test("recognizes TOON and JSON and says why the model was chosen", () => {
    const decision: unknown = JSON.parse(tutti(["route", "--json"], handoff).out);
    assert.deepEqual(decision, {
      model: "gpt-5.3-codex-spark",
      reason: "handoff destination honored",
      matched_by: "destination",
      words: ["code", "code_change", "tests", "test", "implement"],
    });
  });

  test("prints warnings on standard error and the answer on standard output", () => {
    const { status, out, err } = tutti(["route", "--json"], `${handoff}colour: blue\n`);
    assert.equal(status, 0);
    assert.match(err, /^warning: .*colour/m);
    assert.equal(lines(out).length, 1);
  });

  test("gives status 3 for an invalid handoff, and says what is missing", () => {
    const { status, out, err } = tutti(["route"], handoff.replace(/^conf: .*\n/m, ""));
    assert.equal(status, errorTable.invalid_input.exit);
    assert.equal(out, "");
    assert.match(err, /missing required handoff fields: conf/);
  });

  test("prints errors as JSON with --json", () => {
    const { status, err } = tutti(["route", "--json", "nowhere.toon"]);
    assert.equal(status, errorTable.not_found.exit);
    assert.deepEqual(JSON.parse(err), {
      error: { code: "not_found", message: "there is no file nowhere.toon", retry: "never" },
    });
  });
});
