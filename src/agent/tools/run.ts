// The tool `run`: runs a program in the workspace, confined if the machine can do that, and tells the model whether it was.

import { z } from "zod";

import type { Rights } from "../../core/rights.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { CallLook } from "./call-look.ts";
import { lookAtCommand } from "./command-look.ts";
import type { HeldFiles } from "./held-look.ts";
import { stepTool, type StepTool, type StepToolContext } from "./tool.ts";

/** Runs programs for agents: the part of the tool that depends on the machine. */
export interface Commands {
  /** Whether programs can change only the task's folders and have no network unless the call asks for it. */
  readonly confined: boolean;
  /** Where and with what the command would run; throws when it could not. */
  place(command: Command, rights: Rights): Promise<CommandPlace>;
  run(command: Command, context: StepToolContext): Promise<CommandOutcome>;
  /** Protected files that confined programs made. */
  readonly held?: HeldFiles;
}

export interface CommandPlace {
  /** The real path of its folder. */
  readonly cwd: string;
  /** Names of the variables that it gets. */
  readonly environment: readonly string[];
  /** Protected files that a confined program could change if they were not read-only. */
  readonly protectedFiles: readonly string[];
  /** The program, where nothing confines it: its real path, and whether it lies in the folders of the task. */
  readonly program?: { readonly path: string; readonly isOfTask: boolean } | undefined;
  /** The real path of a program that runs unconfined and is surely no code of the workspace, and runs none. */
  readonly foreignProgram?: string | undefined;
}

export interface Command {
  readonly argv: readonly [string, ...string[]];
  readonly cwd: string | undefined;
  readonly stdin: string;
  readonly timeoutMs: number;
  readonly network: boolean;
  /** A person agreed that a confined program changes protected files. */
  readonly mayChangeProtected: boolean;
}

export interface CommandOutcome {
  readonly exit_code: number | null;
  readonly signal: string | null;
  readonly timed_out: boolean;
  readonly stdout: string;
  readonly stderr: string;
  readonly truncated: boolean;
  readonly duration_ms: number;
  /** How many protected files appeared while the program ran and were moved aside, because nobody has approved them. */
  readonly protected_files_held?: number;
}

const defaultMs = 2 * 60_000;
const longestMs = 60 * 60_000;
const text = z.string().refine((value) => !value.includes("\0"), "must not hold a zero byte");
const filled = text.refine((value) => value.trim() !== "", "must not be blank");

const RunInput = z
  .strictObject({
    argv: z.tuple([filled], text).nullish().describe("The program and its arguments, passed exactly; no shell."),
    shell: filled.nullish().describe("A script for /bin/sh, instead of argv, when a shell is really needed."),
    cwd: filled.nullish().describe("Where it runs; the first folder you may touch when absent."),
    stdin: z.string().nullish(),
    timeout_ms: z.int().positive().max(longestMs).nullish().describe("It is ended then; two minutes when absent."),
    network: z.boolean().nullish().describe("It needs the network; this may have to be approved."),
    protected: z
      .boolean()
      .nullish()
      .describe("It changes protected files, as `git commit` changes .git; a person must approve this."),
  })
  .refine(
    ({ argv, shell }) => ((argv ?? undefined) === undefined) !== ((shell ?? undefined) === undefined),
    "needs either argv or shell, and not both",
  );
type RunInput = z.infer<typeof RunInput>;

export function runTool(commands: Commands): StepTool {
  const { confined } = commands;
  const isOnline = ({ network }: RunInput): boolean => network === true || !confined;
  return stepTool({
    name: "run",
    description:
      "Runs a program and returns how it ended and what it printed; long output keeps its beginning and its end. " +
      (confined
        ? "It can write only to the folders you may touch and to a /tmp of its own, but not to protected files such as " +
          ".git, and has no network unless you ask for it. A person is asked about protected files that it makes, such " +
          "as the .git of `git clone`."
        : "It runs unconfined on this machine, so each call may have to be approved."),
    input: RunInput,
    effects: ["execute", "network", "protected"],
    effectOf: (input) => ({
      effects: [
        "execute",
        // An unconfined program can use the network whether the call asks for it or not.
        ...(input.network === true || !confined ? (["network"] as const) : []),
        ...(input.protected === true ? (["protected"] as const) : []),
      ],
      confined,
    }),
    lookOf: (input) => ({
      always: false,
      at: ({ rights }) => lookAtCommand(commands, { ...commandOf(input), network: isOnline(input) }, rights),
    }),
    repeatable: false,
    held: commands.held,
    async run(input, context) {
      const network = isOnline(input);
      const command = { ...commandOf(input), network };
      const { look } = context;
      if (look?.cwd !== undefined) {
        const now = await commands.place(command, context.rights);
        const other = now.cwd !== look.cwd ? `folder is no longer ${look.cwd}` : otherProgram(look, now);
        if (other !== undefined) {
          const what = `the ${other}, as the person saw who approved the call; nothing was run`;
          throw new TuttiError("conflict", what);
        }
      }
      const outcome = await commands.run(command, context);
      return { ...outcome, confined, network };
    },
  });
}

function otherProgram(shown: CallLook, { program }: CommandPlace): string | undefined {
  return shown.program === program?.path ? undefined : `program is no longer ${shown.program ?? "the one"}`;
}

function commandOf({ argv, shell, cwd, stdin, timeout_ms, protected: changes }: RunInput): Omit<Command, "network"> {
  return {
    argv: argv ?? ["/bin/sh", "-c", shell ?? ""],
    cwd: cwd ?? undefined,
    stdin: stdin ?? "",
    timeoutMs: timeout_ms ?? defaultMs,
    mayChangeProtected: changes === true,
  };
}
