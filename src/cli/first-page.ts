// What `tutti` alone prints: what to do first, and where to read on. It fits a terminal of 80 by 24.
import { bold, dim } from "./terminal/style.ts";
import { asTyped } from "./terminal/typed-command.ts";

interface Section {
  readonly title: string;
  /** A command or a place, and what it is for. */
  readonly lines: readonly (readonly [string, string])[];
}

const sections: readonly Section[] = [
  {
    title: "Start here",
    lines: [
      ["tutti up --tour", "see a goal reached, without a key"],
      ["tutti init", "set this project up"],
      ['tutti run "what you want"', "have a goal of yours reached"],
      ["tutti agents new reviewer", "write a first agent, as Markdown"],
      ['tutti agents run reviewer "Hello"', "run it; without a key, a rehearsal"],
      ["tutti doctor", "see what is missing, such as a key"],
    ],
  },
  {
    title: "While it works",
    lines: [
      ["tutti tasks", "list what is done and what waits"],
      ["tutti show TASK", "see one tree, its cost, its result"],
      ["tutti asks", "list the questions for you"],
      ["tutti answer ASK TEXT", "answer one of them"],
      ["tutti up --detach", "let a daemon do the work"],
    ],
  },
  {
    title: "Read on",
    lines: [
      ["tutti --help", "all commands"],
      ["tutti COMMAND --help", "one command, with an example"],
      ["README.md, docs/", "in the repository of Tutti"],
    ],
  },
];

const about = "Tutti has AI agents reach your goal,\nand verifies what they did.";

/** Below `columns` that fit both, what a command is for stands on a line of its own. */
export function firstPage(columns: number): string {
  const typed = sections.map(({ title, lines: own }) => ({
    title,
    lines: own.map(([command, purpose]) => [asTyped(command), purpose] as const),
  }));
  const lines = typed.flatMap((section) => section.lines);
  const widest = Math.max(...lines.map(([command]) => command.length));
  const fits = lines.every(([, purpose]) => 2 + widest + 2 + purpose.length < columns);
  const shown = typed.map(({ title, lines: own }) =>
    [
      bold(title),
      ...own.map(([command, purpose]) =>
        fits ? `  ${command.padEnd(widest)}  ${dim(purpose)}` : `  ${command}\n    ${dim(purpose)}`,
      ),
    ].join("\n"),
  );
  return [about, ...shown].join("\n\n");
}
