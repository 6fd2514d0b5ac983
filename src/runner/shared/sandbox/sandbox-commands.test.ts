import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { failsWith, tryTool, workspace } from "../../../../test/support/try-tool.ts";
import { runTool } from "../../../agent/tools/run.ts";
import { ProcessNote } from "../process/end-processes.ts";
import { processTable } from "../process/process-table.ts";
import { sandboxCommands } from "./sandbox-commands.ts";
import { probeSandbox } from "./sandbox-status.ts";

const status = await probeSandbox();
const skip = status.confined ? false : status.reason;
const free = runTool(sandboxCommands({ confined: false, reason: "", advice: "" }));

interface Ran {
  readonly exit_code: number | null;
  readonly timed_out: boolean;
  readonly truncated: boolean;
  readonly stdout: string;
  readonly stderr: string;
  readonly confined: boolean;
  readonly network: boolean;
}

const aside = mkdtempSync(join(tmpdir(), "tutti-aside-"));
after(() => rmSync(aside, { recursive: true }));
const confinedTool = (hidden: readonly string[] = []) => runTool(sandboxCommands(status, { hidden, aside }));

async function ran(tool: typeof free, input: unknown, roots: readonly string[]): Promise<Ran> {
  // Its shape is what the tool promises; every field is looked at by some test.
  return (await tryTool(tool, input, roots)) as Ran;
}

const shell = (script: string): unknown => ({ shell: script });

for (const [how, tool, skipped] of [
  ["confined", confinedTool(), skip],
  ["unconfined", free, false],
] as const) {
  test(`${how}: arguments are passed exactly, and a failure is an outcome`, { skip: skipped }, async (t) => {
    const { root } = workspace(t);
    const words = ["-c", 'printf "<%s>" "$@"; cat; echo oops >&2; exit 3', "sh", "a b", "$HOME", "", "*", "ž"];
    const outcome = await ran(tool, { argv: ["sh", ...words], stdin: "in" }, [root]);
    assert.equal(outcome.stdout, "<a b><$HOME><><*><ž>in");
    assert.equal(outcome.stderr, "oops\n");
    assert.equal(outcome.exit_code, 3);
    assert.equal(outcome.confined, how === "confined");
  });

  test(`${how}: it runs in the workspace and may write there`, { skip: skipped }, async (t) => {
    const { root } = workspace(t, { "sub/x": "" });
    const outcome = await ran(tool, { shell: "pwd; echo made > made", cwd: "sub" }, [root]);
    assert.equal(outcome.stdout, `${join(root, "sub")}\n`);
    assert.equal(readFileSync(join(root, "sub/made"), "utf8"), "made\n");
  });

  test(`${how}: only the allowed part of our environment is passed on`, { skip: skipped }, async (t) => {
    const { root } = workspace(t);
    process.env["TUTTI_TEST_SECRET"] = "hush";
    t.after(() => delete process.env["TUTTI_TEST_SECRET"]);
    const { stdout } = await ran(tool, { argv: ["env"] }, [root]);
    assert.ok(!stdout.includes("hush"));
    assert.match(stdout, /^PATH=/m);
  });

  test(`${how}: at its deadline all of it is ended, children that ignore signals too`, { skip: skipped }, async (t) => {
    const { root } = workspace(t);
    let note: unknown;
    const script = "trap '' TERM; (trap '' TERM; sleep 300) & echo begun; sleep 300; sleep 300";
    const outcome = await tryTool(tool, { shell: script, timeout_ms: 700 }, [root], {
      note: async (value) => {
        note = value;
      },
    });
    assert.partialDeepStrictEqual(outcome, { timed_out: true, stdout: "begun\n" });
    assert.deepEqual(await membersOf(note), []);
  });

  test(`${how}: a cancel ends it`, { skip: skipped }, async (t) => {
    const { root } = workspace(t);
    const stop = new AbortController();
    let note: unknown;
    const running = tryTool(tool, shell("echo begun; sleep 300"), [root], {
      signal: stop.signal,
      note: async (value) => {
        note = value;
      },
      live: () => stop.abort(new Error("enough")),
    });
    await assert.rejects(running, /enough/);
    assert.deepEqual(await membersOf(note), []);
  });

  test(`${how}: long output keeps its beginning and its end`, { skip: skipped }, async (t) => {
    const { root } = workspace(t);
    const outcome = await ran(tool, shell("echo first; yes | head -c 3000000; echo last"), [root]);
    assert.ok(outcome.truncated && outcome.stdout.length < 13_000);
    assert.match(outcome.stdout, /^first\n[^]*bytes left out[^]*last\n$/);
  });

  test(
    `${how}: a program that is not there, and a folder outside, are said before anything runs`,
    { skip: skipped },
    async (t) => {
      const { root, top } = workspace(t);
      symlinkSync(top, join(root, "up"));
      await assert.rejects(ran(tool, { argv: ["no-such-program"] }, [root]), failsWith("not_found", /no-such-program/));
      for (const cwd of ["..", "up", "/"]) {
        await assert.rejects(ran(tool, { argv: ["true"], cwd }, [root]), failsWith("refused"), cwd);
      }
      await assert.rejects(ran(tool, { argv: ["true"] }, []), failsWith("refused"));
    },
  );
}

async function membersOf(note: unknown): Promise<unknown[]> {
  assert.ok(typeof note === "object" && note !== null && "process" in note);
  const { pid } = ProcessNote.parse(note.process);
  return (await processTable.list()).filter((entry) => !entry.ended && (entry.group === pid || entry.session === pid));
}

test("a confined program changes nothing outside of the workspace", { skip }, async (t) => {
  const { root, top } = workspace(t);
  writeFileSync(join(top, "canary"), "kept");
  chmodSync(top, 0o777);
  const home = process.env["HOME"] ?? "/root";
  const targets = [
    join(top, "canary"),
    join(top, "new"),
    "/etc/tutti-x",
    "/var/tmp/tutti-x",
    `${home}/tutti-x`,
    "/tutti-x",
  ];
  const script = targets.map((path) => `(echo gone > '${path}') 2>/dev/null && echo 'wrote ${path}'`).join("\n");
  // What it sees of the folder beside the workspace is an empty /tmp when that is where it lies; outside nothing changes.
  await ran(confinedTool(), shell(`${script}\nrm -rf '${top}/canary' /etc/hostname; mount -o remount,rw /; :`), [root]);
  assert.deepEqual(readdirSync(top).sort(), ["canary", "root"]);
  assert.equal(readFileSync(join(top, "canary"), "utf8"), "kept");
  for (const path of targets.slice(2)) assert.ok(!existsSync(path), path);
});

test("a confined program has a /tmp of its own, sees no other processes, and holds no powers", { skip }, async (t) => {
  const { root } = workspace(t);
  const mark = join(tmpdir(), `tutti-mark-${process.pid}`);
  const script = `echo x > ${mark}; ls /proc | grep -c '^[0-9]'; kill -0 ${process.pid} 2>/dev/null && echo reached; grep CapEff /proc/self/status; ls /run | wc -l`;
  const { stdout } = await ran(confinedTool(), shell(script), [root]);
  const [processes, caps, run] = stdout.split("\n");
  assert.ok(Number(processes) < 8, stdout);
  assert.match(caps ?? "", /^CapEff:\s*0+$/);
  assert.equal(run, "0");
  assert.ok(!existsSync(mark));
});

test("a confined program has no network unless it asks for it", { skip }, async (t) => {
  const { root } = workspace(t);
  let reached = 0;
  const server = createServer((socket) => {
    reached += 1;
    socket.end();
  }).listen(0, "127.0.0.1");
  t.after(() => server.close());
  await new Promise((resolve) => server.once("listening", resolve));
  const address = server.address();
  assert.ok(typeof address === "object" && address !== null);
  const code = `require("net").connect(${address.port}, "127.0.0.1").on("connect", () => process.exit(0)).on("error", () => process.exit(7))`;
  // Where node itself lies in /tmp, a confined program would not see it.
  const node = join(root, "node");
  try {
    linkSync(process.execPath, node);
  } catch {
    copyFileSync(process.execPath, node);
  }
  const argv = [node, "-e", code];
  const closed = await ran(confinedTool(), { argv }, [root]);
  assert.equal(closed.exit_code, 7, closed.stderr);
  assert.equal(closed.network, false);
  assert.equal(reached, 0);
  const open = await ran(confinedTool(), { argv, network: true }, [root]);
  assert.equal(open.exit_code, 0, open.stderr);
  assert.equal(open.network, true);
  assert.equal(reached, 1);
});

test("a confined program ends when we are killed, before any recovery", { skip }, async (t) => {
  const { root } = workspace(t);
  const script = `
    import { tryTool } from ${JSON.stringify(import.meta.resolve("../../../../test/support/try-tool.ts"))};
    import { runTool } from ${JSON.stringify(import.meta.resolve("../../../agent/tools/run.ts"))};
    import { probeSandbox } from ${JSON.stringify(import.meta.resolve("./sandbox-status.ts"))};
    import { sandboxCommands } from ${JSON.stringify(import.meta.resolve("./sandbox-commands.ts"))};
    const tool = runTool(sandboxCommands(await probeSandbox(), { aside: process.argv[2] }));
    let noted;
    await tryTool(tool, { shell: "trap '' TERM HUP; echo begun; sleep 300" }, [process.argv[1]], {
      note: async (note) => { noted = note; },
      live: () => console.log(JSON.stringify(noted)),
    });`;
  const argv = ["--input-type=module", "-e", script, root, aside];
  const child = spawn(process.execPath, argv, { stdio: ["ignore", "pipe", "inherit"] });
  t.after(() => child.kill("SIGKILL"));
  const [chunk]: unknown[] = await once(child.stdout, "data");
  const note: unknown = JSON.parse(String(chunk).split("\n")[0] ?? "");
  assert.ok((await membersOf(note)).length > 1);
  child.kill("SIGKILL");
  await once(child, "exit");
  let left = await membersOf(note);
  for (let looks = 0; left.length > 0 && looks < 200; looks += 1) {
    await sleep(25);
    left = await membersOf(note);
  }
  assert.deepEqual(left, []);
});

test("hidden folders look empty, also inside a workspace, and cannot be a workspace", { skip }, async (t) => {
  const { root, top } = workspace(t, { "state/key": "secret", "state/box/x": "mine" });
  mkdirSync(join(top, "vault"));
  writeFileSync(join(top, "vault/key"), "secret");
  const state = join(root, "state");
  const script = `cat '${state}/key' '${top}/vault/key'; ls '${state}'; :`;
  const tool = confinedTool([state, join(top, "vault")]);
  assert.equal((await ran(tool, shell(script), [root])).stdout, "");
  for (const inside of [state, join(state, "box")]) {
    await assert.rejects(ran(tool, shell(script), [root, inside]), failsWith("refused", /no tool may touch/));
  }
  assert.equal(readFileSync(join(state, "key"), "utf8"), "secret");
});

test(
  "a program in a folder that is not seen is said to be there, and the path leaves such folders out",
  { skip },
  async (t) => {
    const { root, top } = workspace(t);
    for (const folder of ["bin", "root"]) {
      mkdirSync(join(top, folder), { recursive: true });
      writeFileSync(join(top, folder, "hello"), `#!/bin/sh\necho ${folder}\n`);
      chmodSync(join(top, folder, "hello"), 0o755);
    }
    const tool = confinedTool([join(top, "bin")]);
    await assert.rejects(ran(tool, { argv: [join(top, "bin/hello")] }, [root]), failsWith("not_found", /cannot see/));
    const path = process.env["PATH"];
    process.env["PATH"] = `${join(top, "bin")}:${root}:${path ?? ""}`;
    t.after(() => {
      process.env["PATH"] = path;
    });
    assert.equal((await ran(tool, { argv: ["hello"] }, [root])).stdout, "root\n");
  },
);

test("the whole machine as a workspace is not confined, so it is refused", { skip }, async () => {
  await assert.rejects(ran(confinedTool(), { argv: ["true"] }, ["/"]), failsWith("refused", /narrower/));
});

test("where a program cannot be confined, this is said with what to do", async (t) => {
  const { root } = workspace(t);
  const missing = await probeSandbox({ PATH: root });
  assert.ok(!missing.confined);
  assert.match(missing.reason, /not installed/);
  assert.match(missing.advice, /apt-get install bubblewrap/);
  writeFileSync(join(root, "bwrap"), "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n");
  chmodSync(join(root, "bwrap"), 0o755);
  const refused = await probeSandbox({ PATH: root });
  assert.ok(!refused.confined);
  assert.match(refused.reason, /cannot confine.*No permissions to create new namespace/);
});

test("a bubblewrap that cannot deny namespaces still confines, and the status says so", { skip }, async (t) => {
  if (!status.confined || status.by !== "bubblewrap") return;
  const { root } = workspace(t);
  const old = 'case " $* " in *" --disable-userns "*) echo "bwrap: Unknown option --disable-userns" >&2; exit 1;; esac';
  writeFileSync(join(root, "bwrap"), `#!/bin/sh\n${old}\nexec ${status.program} "$@"\n`, { mode: 0o755 });
  const found = await probeSandbox({ PATH: root });
  assert.partialDeepStrictEqual(found, { confined: true, by: "bubblewrap", deniesNamespaces: false });
  const tool = runTool(sandboxCommands(found, { aside }));
  assert.equal((await ran(tool, { argv: ["true"] }, [root])).exit_code, 0);
});

test("a confined program makes no user namespaces of its own", { skip }, async (t) => {
  if (!status.confined || status.by !== "bubblewrap" || !status.deniesNamespaces) return;
  const { root } = workspace(t);
  const { stdout } = await ran(confinedTool(), shell("unshare --user true; echo $?"), [root]);
  assert.notEqual(stdout.trim(), "0");
});
