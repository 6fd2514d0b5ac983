// `tutti init`: finds out what a project has, writes a config and a policy for it, and says what to type next.
import type { Host } from "../../host/host.ts";
import type { InitResult } from "../../host/project.ts";
import { foundLines } from "../found-lines.ts";
import { givenFolder } from "../given-folder.ts";
import { stateFolder } from "../state-folder.ts";
import { printableName } from "../terminal/printable.ts";
import { writeJson, writeLine, writeUnbroken } from "../terminal/screen.ts";
import { bold, dim, paint } from "../terminal/style.ts";

export interface InitCommandOptions {
  readonly cwd?: string;
  readonly state?: string;
  readonly force?: boolean;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

const longestMs = 30_000;

export async function initCommand(host: Host, options: InitCommandOptions): Promise<void> {
  const { cwd, state, force = false, dryRun = false, json } = options;
  const project = await host.openProject(givenFolder(cwd), { state: stateFolder(state) });
  const result = await project.init({ force, dryRun, signal: AbortSignal.timeout(longestMs) });
  if (json === true) return writeJson({ ...result, dry_run: dryRun });
  await writeLine(
    `${bold(printableName(result.folder))}${result.git ? "" : dim(" (no git repository: tasks work on copies of it)")}`,
  );
  for (const line of foundLines(result)) await writeLine(line, { hang: 16 });
  await showFiles(result, dryRun);
  if (!dryRun) await showNext(result);
}

async function showFiles({ files }: InitResult, dryRun: boolean): Promise<void> {
  for (const { file, state, why, text } of files) {
    const done = dryRun && text !== null ? `would be ${state}` : state;
    const mark = text === null ? dim(done) : paint("green", done);
    const trusted = dryRun || text === null ? "" : dim(", and trusted as it is now");
    await writeLine(`${mark} ${printableName(file)}${trusted}${why === "" ? "" : dim(`: ${why}`)}`);
    if (dryRun && text !== null) await writeUnbroken(text.replaceAll(/^(?=.)/gm, "  "));
  }
}

/** One thing at a time: without a model, nothing else makes sense before there is one. */
async function showNext({ model, providers, servers }: InitResult): Promise<void> {
  if (model !== null || providers.length > 0 || servers.length > 0) {
    await writeLine('Next: `tutti run "what you want"` plans it, has it done, checks it and reports.');
    await writeLine(
      dim("`tutti policy explain` says which model does what; after an edit of the files, `tutti trust`."),
    );
    return;
  }
  await writeLine("Next: give Tutti a model, by one of these, and run `tutti init` again.");
  const ways = [
    ["tutti models login anthropic", "keeps a key (or of openai, google, openrouter)"],
    ["tutti models add http://127.0.0.1:8080/v1", "takes a server of yours, at its address"],
  ] as const;
  for (const [command, purpose] of ways) await writeLine(`  ${command}\n      ${dim(purpose)}`);
}
