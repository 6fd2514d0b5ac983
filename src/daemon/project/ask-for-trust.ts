// Asks a person, through the task that needs it, whether the config of a project may be used.

import { relative } from "node:path";

import { shownLines } from "../../agent/tools/call-look.ts";
import { inLine, quoted } from "../../core/foreign-words.ts";
import { approvalOutcome } from "../../core/approval.ts";
import type { Durable } from "../../ports.ts";
import { TuttiError } from "../../protocol/error.ts";
import { Answer } from "../../protocol/task/ask.ts";
import { type ConfigFiles, isData, readConfigJson } from "./config-files.ts";
import { configServers } from "./config-servers.ts";
import { missingConfig, type Trust } from "./trusted-configs.ts";

/** Returns when the content is trusted. Throws `refused` when the answer is no, when nobody answers, and after a revocation. */
export async function askForTrust(durable: Pick<Durable, "wait">, files: ConfigFiles, trust: Trust): Promise<void> {
  if (trust.isTrusted(files)) return;
  const { folder, hash, packages } = files;
  const why = trust.knows(folder) ? "has changed since you trusted it" : "was never trusted";
  const listed = [...files.files.keys()].map((path) => relative(folder, path)).toSorted();
  const servers = configServers(files);
  const declares = servers.map((line) => `\n  | ${line}`).join("");
  const question =
    `The config of the project ${inLine(folder)} ${why}: ${inLine(listed.join(", "))} (sha256 ${hash.slice(0, 12)}). ` +
    `${isData(files) ? `It sets:\n${shownSettings(files)}\n` : "It is code that would run as you. "}` +
    `${servers.length === 0 ? "" : `It declares MCP servers:${declares}\n`}May it be used from now on?`;
  const details = { project: folder, hash, files: listed, packages: [...packages], sets: settingsOf(files) };
  // The key holds the hash: an answer about one content must never count for another.
  const waited = await durable.wait(`trust.${hash}`, {
    ask: { kind: "approval", question, details },
    schema: Answer,
  });
  const outcome = approvalOutcome(waited);
  if (!outcome.approved) throw untrusted(files, outcome.reason);
  if (trust.isRevoked(files)) throw untrusted(files, "the trust in it was revoked");
  await trust.record(files);
}

/** Returns when the project may do without the config that was trusted. Throws `refused` like `askForTrust`. */
export async function askToMiss(durable: Pick<Durable, "wait">, project: string, trust: Trust): Promise<void> {
  if (!trust.misses(project)) return;
  const content = missingConfig(project);
  const question =
    `The project ${inLine(content.folder)} has no config any more, although you trusted one. ` +
    `Its approval rules, tools and models would not count. May tasks run without it from now on?`;
  const details = { project: content.folder, hash: content.hash };
  const waited = await durable.wait("trust.none", { ask: { kind: "approval", question, details }, schema: Answer });
  const outcome = approvalOutcome(waited);
  if (!outcome.approved) throw new TuttiError("refused", `${missingProblem(content.folder)} (${outcome.reason})`);
  await trust.record(content);
}

export function missingProblem(folder: string): string {
  return `${folder} has no config any more, although you trusted one; put it back, or run \`tutti trust --revoke\` there to do without`;
}

/** `why` is the end of a sentence. */
export function untrusted({ file, hash }: ConfigFiles, why: string): TuttiError {
  const message = `${file} is not used: ${why}; look at it and run \`tutti trust\` in its folder`;
  return new TuttiError("refused", message, { details: { file, hash } });
}

/** Whole, as far as a person can read it; what is longer says so, and the details have all of it. */
function shownSettings(files: ConfigFiles): string {
  const lines = quoted(JSON.stringify(settingsOf(files), null, 2)).split("\n");
  return (lines.length <= mostLines ? lines : shownLines(lines)).join("\n");
}

const mostLines = 2_000;

/** What a config that is data sets; code must run to tell, so nothing can be said about it. */
export function settingsOf(files: ConfigFiles): unknown {
  if (!isData(files)) return "code: it decides what it sets when it runs";
  const read = readConfigJson(files);
  return read.ok ? read.value : `it cannot be used: it ${read.problem}`;
}
