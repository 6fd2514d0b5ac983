// `tutti policy check`: says what is wrong with a routing policy, and which of the models that it names cannot run here.
import { placed } from "../../protocol/routing/read-policy-file.ts";
import type { Host } from "../../host/host.ts";
import type { PolicyCheck } from "../../host/project.ts";
import { errorTable } from "../../protocol/error.ts";
import { givenFolder } from "../given-folder.ts";
import { readText } from "../input.ts";
import { stateFolder } from "../state-folder.ts";
import { warn } from "../terminal/output.ts";
import { printableName } from "../terminal/printable.ts";
import { writeJson, writeLine } from "../terminal/screen.ts";
import { bold, dim, paint } from "../terminal/style.ts";

export interface PolicyCheckOptions {
  readonly cwd?: string;
  readonly state?: string;
  readonly json?: boolean;
  readonly limit: number;
}

export async function policyCheckCommand(
  host: Host,
  file: string | undefined,
  options: PolicyCheckOptions,
): Promise<void> {
  const { cwd, state, json, limit } = options;
  const project = await host.openProject(givenFolder(cwd), { state: stateFolder(state) });
  const given = file === undefined ? undefined : { file, text: await readText(file, limit) };
  const check = await project.checkPolicy(given);
  const own = given === undefined ? await project.policyFile() : undefined;
  if (!check.ok) process.exitCode = errorTable.invalid_input.exit;
  if (json === true) return writeJson(own === undefined ? check : { ...check, trusted: own.trusted });
  if (check.problem !== undefined) warn(check.problem);
  await show(check);
  if (own?.trusted === false) {
    warn(`${printableName(own.file)} is not trusted as it is now, so no goal can start; run \`tutti trust\``);
  }
}

async function show({ ok, file, problems, models }: PolicyCheck): Promise<void> {
  const name = printableName(file ?? "the policy made from your models");
  for (const problem of problems) {
    await writeLine(`${paint(problem.level === "error" ? "red" : "yellow", problem.level)} ${placed(name, problem)}`);
  }
  for (const { where, line, model, ok: runs, said } of models) {
    const mark = runs ? paint("green", "ok  ") : paint("red", "fail");
    const place = file === null ? where : placed(name, { line, message: where });
    await writeLine(`${mark} ${place} ${bold(model)}  ${dim(said)}`, { hang: 5 });
  }
  const failed = models.filter((model) => !model.ok).length;
  if (ok) await writeLine(`${name} can be used: every model that it names can run here`);
  else if (failed > 0) {
    const what = failed === 1 ? "1 model that it names" : `${failed} models that it names`;
    await writeLine(`${name}: ${what} cannot run here; see \`tutti models\` and \`tutti doctor\``);
  }
}
