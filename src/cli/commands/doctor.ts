// `tutti doctor`: checks what Tutti needs here, and says what to do about what is missing.
import type { Host } from "../../host/host.ts";
import type { Finding } from "../../host/project.ts";
import { errorTable, toTuttiError } from "../../protocol/error.ts";
import { writeJson, writeLine } from "../terminal/screen.ts";
import { bold, dim, paint } from "../terminal/style.ts";
import { type DatabaseFlags, givenDatabase } from "../database-option.ts";
import { daemonFindings, setupFinding } from "../daemon-findings.ts";
import { givenFolder } from "../given-folder.ts";
import { stateFolder } from "../state-folder.ts";

export interface DoctorOptions extends DatabaseFlags {
  readonly cwd?: string;
  readonly state?: string;
  readonly json?: boolean;
}

const marks: Readonly<Record<Finding["state"], string>> = {
  ok: paint("green", "ok  "),
  warn: paint("yellow", "warn"),
  fail: paint("red", "fail"),
};

/** Warnings do not change the exit status; a failed check does. */
export async function doctorCommand(host: Host, options: DoctorOptions): Promise<void> {
  const findings = [...(await checkHere(host, options)), ...(await askDaemon(host, options))];
  const failed = findings.find((finding) => finding.state === "fail");
  if (failed !== undefined) process.exitCode = errorTable[failed.code ?? "io"].exit;
  if (options.json === true) return writeJson({ ok: failed === undefined, findings });
  const width = Math.max(0, ...findings.map(({ what }) => what.length));
  for (const { what, state, said, todo } of findings) {
    await writeLine(`${marks[state]} ${bold(what.padEnd(width))}  ${said}`, { hang: width + 7 });
    if (todo !== undefined) await writeLine(`${" ".repeat(width + 7)}${dim(todo)}`, { hang: 0 });
  }
}

/** What is on this machine does not matter to a daemon elsewhere. */
async function checkHere(host: Host, options: DoctorOptions): Promise<readonly Finding[]> {
  if (host.remote !== undefined) return [];
  const state = stateFolder(options.state);
  const project = await host.openProject(givenFolder(options.cwd), { state });
  const database = options.database === undefined ? undefined : givenDatabase(options);
  return [...(await project.doctor()), ...(await host.checkSharedDatabase(state, database))];
}

async function askDaemon(host: Host, options: DoctorOptions): Promise<Finding[]> {
  if (host.remote !== undefined) return askRemote(host, host.remote.url);
  const state = stateFolder(options.state);
  const folder = givenFolder(options.cwd);
  // A daemon that does not answer is told by the check of the state folder.
  const tutti = await host.connect(state).catch(() => undefined);
  if (tutti === undefined) return [];
  try {
    const [daemon, here] = [await tutti.setup({ folder }), await host.setup({ state, folder })];
    return daemonFindings({ daemon, here, url: tutti.url ?? "", state: options.state });
  } catch (thrown) {
    return [{ what: "daemon", state: "warn", said: `it does not tell what it has: ${toTuttiError(thrown).message}` }];
  } finally {
    await tutti.close();
  }
}

async function askRemote(host: Host, url: string): Promise<Finding[]> {
  const tutti = await host.connect("");
  try {
    return tutti === undefined ? [] : [setupFinding(await tutti.setup(), url)];
  } finally {
    await tutti?.close();
  }
}
