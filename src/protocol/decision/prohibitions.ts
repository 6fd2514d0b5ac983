// What the manager may not do itself; the prompt and the refusal of `do_work` are both written from this list.

interface Prohibition {
  readonly code: string;
  readonly rule: string;
}

/** The remedy is the same for all of them, however small the work: launch a session. */
export const prohibitions: readonly Prohibition[] = [
  { code: "SP1", rule: "write, edit or delete files of a project" },
  { code: "SP2", rule: "read or analyse the source of a project" },
  { code: "SP3", rule: "run builds, tests, linters, deployments or other shell work" },
  { code: "SP4", rule: "do research whose result is what was asked for" },
  { code: "SP5", rule: "answer a question about the work out of your own knowledge" },
  { code: "SP6", rule: "say that something is done without evidence that Tutti observed" },
  { code: "SP7", rule: "tell the person to run something that a session could run" },
];

/** All codes as a range: SP1-SP7. */
export const prohibitionRange = rangeOf(prohibitions);

/** The codes that forbid work itself, as the refusal of `do_work` names them: SP1-SP5. */
export const workProhibitionRange = rangeOf(prohibitions.slice(0, 5));

function rangeOf(rules: readonly Prohibition[]): string {
  return `${rules[0]?.code}-${rules.at(-1)?.code}`;
}
