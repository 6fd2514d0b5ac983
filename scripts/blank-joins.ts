// Finds where words are joined by blanks, which loses where one argument of a command ends. Commands are shown by `argvLine`.

interface AllowedJoins {
  readonly count: number;
  readonly why: string;
}

/** The files that may join by blanks, how often, and why none of it is a command that anybody reads. */
export const allowedJoins: ReadonlyMap<string, AllowedJoins> = new Map([
  ["src/protocol/argv-line.ts", { count: 1, why: "renders commands, with every argument quoted" }],
  ["src/agent/loop/conversation.ts", { count: 1, why: "codes of errors" }],
  ["src/cli/commands/answer.ts", { count: 1, why: "what a person typed as the text of an answer" }],
  ["src/cli/commands/chat.ts", { count: 1, why: "what a person typed as a message" }],
  ["src/cli/commands/message-command.ts", { count: 1, why: "what a person typed as a message" }],
  ["src/cli/commands/policy-explain.ts", { count: 1, why: "what a person typed as the text of a task" }],
  ["src/cli/completion/fish-script.ts", { count: 3, why: "our own names of options and values" }],
  ["src/core/check-outcome.ts", { count: 1, why: "sentences" }],
  ["src/core/judge-evidence.ts", { count: 1, why: "sentences" }],
  ["src/core/make-evidence.ts", { count: 2, why: "sentences" }],
  ["src/core/relayed-words.ts", { count: 1, why: "words of a person that are compared" }],
  ["src/daemon/log/pretty-line.ts", { count: 1, why: "the fields of a line of the log" }],
  ["src/daemon/operators/session-state.ts", { count: 1, why: "the roles of an operator" }],
  ["src/files/file-hash.ts", { count: 1, why: "the numbers that identify a file" }],
  ["src/manager/verify-goal.ts", { count: 1, why: "sentences" }],
  ["src/model/call-failure.ts", { count: 1, why: "codes of errors" }],
  ["src/model/rehearsal/tried-script.ts", { count: 1, why: "numbers" }],
  ["src/protocol/toolcalls/declare-tool.ts", { count: 1, why: "sentences" }],
  ["src/runner/shared/sandbox/seatbelt-profile.ts", { count: 6, why: "rules of a sandbox profile, with quoted paths" }],
  ["src/verification/anatomy/makefile.ts", { count: 1, why: "names of files, as make fills them in" }],
  ["src/workspace/session-result.ts", { count: 1, why: "the subject of a commit" }],
  ["web/src/ui/outside-text.tsx", { count: 1, why: "names of classes" }],
]);

/** A literal of nothing but white space, however it is written, or a separator that is made where it is used. */
const blankJoin = /\.\s*join\s*\(\s*(?:(?<quote>["'`])(?: |\\x20|\\u0020|\\u\{0*20\})+\k<quote>|String\b)\s*[,).]/g;

export function blankJoins(text: string): number {
  return [...text.matchAll(blankJoin)].length;
}

export interface SourceText {
  readonly file: string;
  readonly text: string;
}

/** One sentence for each file that joins more often than it may, or less often than the table says. */
export function refusedJoins(sources: readonly SourceText[], allowed = allowedJoins): string[] {
  const sentences = sources.flatMap(({ file, text }) => {
    const [found, may] = [blankJoins(text), allowed.get(file)?.count ?? 0];
    if (found === may) return [];
    return found > may
      ? [`${file} joins words by blanks; show a command with argvLine, or say in scripts/blank-joins.ts why it is none`]
      : [`scripts/blank-joins.ts allows ${file} more joins by blanks than it has`];
  });
  const known = new Set(sources.map(({ file }) => file));
  const gone = [...allowed.keys()].filter((file) => !known.has(file));
  return [...sentences, ...gone.map((file) => `scripts/blank-joins.ts names ${file}, which does not exist`)];
}
