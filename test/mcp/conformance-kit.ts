// Runs scenarios of the official MCP conformance suite, against Tutti's client and against its path /mcp.

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, request as send } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = join(import.meta.dirname, "..", "..");
const suite = join(root, "node_modules", "@modelcontextprotocol", "conformance", "dist", "index.js");
const client = join(import.meta.dirname, "conformance-client.ts");
const patienceMs = 240_000;

export interface SuiteRun {
  readonly passed: boolean;
  readonly said: string;
}

/** The names of all scenarios, with the revisions that they are of. */
export async function scenarios(
  side: "client" | "server",
): Promise<{ readonly name: string; readonly of: string[] }[]> {
  const { said } = await runSuite(["list", `--${side}`]);
  return [...said.matchAll(/^ {2}- (\S+) \[([^\]]+)\]/gm)].map(([, name = "", of = ""]) => ({
    name,
    of: of.split(","),
  }));
}

/** `of` is a revision of the protocol. */
export const runClient = (scenario: string, of: string): Promise<SuiteRun> =>
  runSuite(["client", "--command", `${process.execPath} ${client}`, "--scenario", scenario, ...inRevision(of)]);

export const runServer = (scenario: string, of: string, url: string): Promise<SuiteRun> =>
  runSuite(["server", "--url", url, "--scenario", scenario, ...inRevision(of)]);

/** Extensions belong to no revision. */
function inRevision(of: string): string[] {
  return of === "extension" ? [] : ["--spec-version", of];
}

async function runSuite(args: readonly string[]): Promise<SuiteRun> {
  const folder = mkdtempSync(join(tmpdir(), "tutti-suite-"));
  const child = spawn(process.execPath, [suite, ...args], { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (said += text));
  const late = setTimeout(() => child.kill("SIGKILL"), patienceMs);
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  clearTimeout(late);
  rmSync(folder, { recursive: true, force: true });
  return { passed: code === 0, said };
}

/** The suite sends no key, so this adds one. A host that the suite makes up is passed on as it is. */
export async function withKey(daemon: string, key: string): Promise<{ readonly url: string; close(): void }> {
  const target = new URL(daemon);
  const proxy = createServer((incoming, outgoing) => {
    const { host = "", origin } = incoming.headers;
    const isOurs = (name: string): boolean =>
      new RegExp(`^(?:http://)?(?:localhost|127\\.0\\.0\\.1):${port()}$`).test(name);
    const headers = {
      ...incoming.headers,
      authorization: `Bearer ${key}`,
      ...(isOurs(host) ? { host: target.host } : {}),
      ...(origin !== undefined && isOurs(origin) ? { origin: target.origin } : {}),
    };
    const options = { host: target.hostname, port: target.port, path: "/mcp", method: incoming.method, headers };
    const passed = send(options, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    passed.on("error", () => outgoing.destroy());
    incoming.pipe(passed);
  });
  const port = (): number => {
    const address = proxy.address();
    return typeof address === "object" && address !== null ? address.port : 0;
  };
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${port()}/mcp`,
    close() {
      proxy.closeAllConnections();
      proxy.close();
    },
  };
}
