// The kinds of runner: those that are built in, those that are kept for later, and the names that a project may add.

/** A registered runner and the runtime it gives an agent. */
export interface AvailableRunner {
  readonly kind: string;
  readonly runtime: string;
}

/** In order of preference. `local` is the loop in this process; `invocation`, the root of a tree, is no place for an agent. */
export const builtinRunners: readonly (AvailableRunner & { readonly description: string })[] = [
  { kind: "local", runtime: "local", description: "an agent with a model, in Tutti's own process" },
  { kind: "command", runtime: "command", description: "a program" },
  { kind: "operator", runtime: "operator", description: "an outside agent, through an operator" },
  { kind: "acp", runtime: "acp", description: "a coding agent such as Claude Code, in a session of its own" },
];

/** Agents and workflows that are the code of a program which uses Tutti as a library; only that program can run them. */
export const programKind = "program";

/** Workflows that are the code of a program which started the run over HTTP: one of its processes attends the run and runs them. */
export const attendedKind = "attended";

/** Not available yet. A policy may name them, and nobody else may take their names. */
const plannedKinds = ["a2a"];

/** The kinds that every policy knows; a project's config can add its own. */
export const knownRunnerKinds: readonly string[] = [...builtinRunners.map(({ kind }) => kind), ...plannedKinds];
