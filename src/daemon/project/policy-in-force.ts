// Tells which routing policy a goal that starts now would keep, and why it cannot start when it cannot.

import type { Project } from "../../host/project.ts";
import type { PolicyInForce } from "../../protocol/api/catalog.ts";
import { placed } from "../../protocol/routing/read-policy-file.ts";

const mostProblems = 200;

export async function policyInForce(project: Pick<Project, "policy" | "policyFile">): Promise<PolicyInForce> {
  const found = await project.policyFile();
  const problems = found?.problems.slice(0, mostProblems).map((problem) => placed(found.file, problem)) ?? [];
  const isWrong = found?.problems.some(({ level }) => level === "error") === true;
  if (found !== undefined && (!found.trusted || isWrong)) {
    const { file, hash, trusted } = found;
    const untrusted = `${file} was not trusted as it is now; look at it and run \`tutti trust\` in the project`;
    return {
      source: "project",
      file,
      hash,
      usable: false,
      text: null,
      problems: [...(trusted ? [] : [untrusted]), ...problems],
    };
  }
  const { source, file, hash, text } = await project.policy();
  return { source, file, hash, usable: true, text, problems };
}
