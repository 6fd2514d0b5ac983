// A confined program looks for services that listen outside of its sandbox: whoever can connect to one has its rights.
import assert from "node:assert/strict";
import {
  existsSync,
  linkSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { homedir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import { runTool } from "../../src/agent/tools/run.ts";
import { confineGit } from "../../src/runner/shared/sandbox/confine-git.ts";
import { sandboxCommands } from "../../src/runner/shared/sandbox/sandbox-commands.ts";
import { probeSandbox } from "../../src/runner/shared/sandbox/sandbox-status.ts";
import { createWorkspace } from "../../src/workspace/create-workspace.ts";
import { openWorkspaces } from "../../src/workspace/record-store.ts";
import { testRepository } from "../support/git-kit.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { tryTool } from "../support/try-tool.ts";

const status = await probeSandbox();
const skip = status.confined && status.by === "bubblewrap" ? false : "bubblewrap does not work here";

interface Service {
  readonly socket: string;
  /** How many connected. */
  readonly reached: () => number;
}

/** A service of the machine, such as one that starts containers, an agent with keys, or a shared connection of ssh. */
async function service(t: TestContext, folder: string, name = "service.sock"): Promise<Service> {
  let count = 0;
  const socket = join(folder, name);
  const server = createServer((connection) => {
    count += 1;
    connection.end("done\n");
  });
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  t.after(() => new Promise<void>((resolve) => server.close(() => resolve())));
  return { socket, reached: () => count };
}

function folderIn(t: TestContext, parent: string): string {
  const folder = mkdtempSync(join(realpathSync(parent), ".tutti-service-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function connecting(to: string): string[] {
  const script = `
    const socket = require("node:net").connect(process.argv[1]);
    socket.on("error", (error) => console.log(error.code));
    socket.on("data", (data) => console.log(String(data)));`;
  return [process.execPath, "-e", script, to];
}

for (const network of [false, true]) {
  test(
    `a program ${network ? "with" : "without"} the network reaches no service that listens in a folder of the person or of its task`,
    {
      skip,
    },
    async (t) => {
      const [root, aside] = [folderIn(t, homedir()), tempFolder(t)];
      const run = runTool(sandboxCommands(status, { aside }));
      for (const folder of [folderIn(t, homedir()), root]) {
        const { socket, reached } = await service(t, folder);
        const { stdout } = Object(await tryTool(run, { argv: connecting(socket), network }, [root]));
        assert.match(stdout, /ECONNREFUSED/);
        assert.equal(reached(), 0);
        assert.ok(existsSync(socket));
      }
    },
  );
}

test("a socket that was given another name after somebody listened on it is out of reach, too", { skip }, async (t) => {
  const [root, aside] = [tempFolder(t), tempFolder(t)];
  const { socket, reached } = await service(t, folderIn(t, homedir()), "first");
  linkSync(socket, `${socket}.now`);
  unlinkSync(socket);
  const run = runTool(sandboxCommands(status, { aside }));
  const { stdout } = Object(await tryTool(run, { argv: connecting(`${socket}.now`) }, [realpathSync(root)]));
  assert.match(stdout, /ECONNREFUSED/);
  assert.equal(reached(), 0);
});

const skipRun = skip === false && process.getuid?.() !== 0 ? "only root may put a service into /run" : skip;

test("a filter that a repository names reaches no service of the machine", { skip: skipRun }, async (t) => {
  const { socket, reached } = await service(t, folderIn(t, "/run"));
  const repository = testRepository(t, { "a.txt": "a\n", ".gitattributes": "*.txt filter=evil\n" });
  // In /tmp it would not be seen.
  const place = folderIn(t, homedir());
  const script = join(place, "filter.cjs");
  writeFileSync(
    script,
    `process.stdin.on("data", (data) => process.stdout.write(data.toString().toUpperCase()));
    require("node:net").connect(${JSON.stringify(socket)}).on("error", () => undefined).resume();`,
  );
  const filter = `${process.execPath} ${script}`;
  repository.git("config", "filter.evil.smudge", filter);
  repository.git("config", "filter.evil.clean", filter);
  const state = join(tempFolder(t), "state");
  const store = openWorkspaces(state);
  const confine = confineGit(status, [realpathSync(state)]);
  const made = await createWorkspace(store, { task: "tsk_1", attempt: 1, project: repository.folder, now: 1, confine });
  assert.ok("workspace" in made);
  assert.equal(readFileSync(join(made.workspace.folder, "a.txt"), "utf8"), "A\n", "the filter ran");
  assert.equal(reached(), 0);
});
