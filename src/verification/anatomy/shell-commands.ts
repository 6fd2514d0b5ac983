// Reads lines for a shell as commands: their words without quotes, where input comes from, and what their output goes through.

export interface ShellCommand {
  readonly words: readonly string[];
  /** Files after `<`. */
  readonly inputs: readonly string[];
  /** The words of `for … in …`, which are values of commands to come. */
  readonly isList: boolean;
  /** Its output goes to a file or into a word. */
  readonly isKept: boolean;
  /** The program that reads its output. */
  readonly into: string | undefined;
}

type Token = { readonly kind: "word" | "sign"; readonly text: string };

const mostLength = 400_000;
const keywords = new Set([
  "if",
  "then",
  "else",
  "elif",
  "fi",
  "do",
  "done",
  "while",
  "until",
  "!",
  "{",
  "}",
  "esac",
  "time",
]);

export function shellCommands(text: string): ShellCommand[] {
  const commands: ShellCommand[] = [];
  let words: string[] = [];
  let inputs: string[] = [];
  let piped: number | undefined;
  let direction: string | undefined;
  let isKept = false;
  const end = (sign: string): void => {
    while (words[0] !== undefined && keywords.has(words[0])) words.shift();
    const isList = words[0] === "for" || words[0] === "case" || words[0] === "select";
    if (words.length > 0 || inputs.length > 0) {
      const previous = piped === undefined ? undefined : commands[piped];
      if (previous !== undefined && piped !== undefined) commands[piped] = { ...previous, into: words[0] };
      commands.push({
        words: isList ? words.slice(words.indexOf("in") + 1) : words,
        inputs,
        isList,
        isKept,
        into: undefined,
      });
    }
    piped = sign === "|" && words.length > 0 ? commands.length - 1 : undefined;
    [words, inputs, direction, isKept] = [[], [], undefined, sign === "$("];
  };
  for (const { kind, text: token } of tokens(text.slice(0, mostLength))) {
    if (kind === "sign") {
      if (token.startsWith("<") || token.startsWith(">")) direction = token;
      else end(token);
    } else if (direction === undefined) words.push(token);
    else {
      if (direction === "<") inputs.push(token);
      if (direction.startsWith(">") && !/^(?:\/dev\/null|&?\d)$/.test(token)) isKept = true;
      direction = undefined;
    }
  }
  end("");
  return commands;
}

function* tokens(text: string): Generator<Token> {
  const pattern =
    /\\\n|[ \t\r]+|(?<=^|\s)#[^\n]*|<<<|<<-?|>>|<\(|>&|&>|\|\||&&|;;|[;&|()<>\n`]|(?:\\[^]|"(?:\\[^]|[^"\\])*"?|'[^']*'?|\$\([^()]*\)|\$\{[^}]*\}|[^\s;&|()<>`"'\\])+/g;
  for (const [found] of text.matchAll(pattern)) {
    if (/^(?:\\\n|[ \t\r]|#)/.test(found)) continue;
    if (/^(?:<<<|<<-?|>>|<\(|>&|&>|\|\||&&|;;|[;&|()<>\n`])$/.test(found)) {
      yield { kind: "sign", text: found === "<(" ? "(" : found };
      continue;
    }
    // Commands within a word run as well.
    const inner = [...found.matchAll(/\$\(([^()]*)\)/g)]
      .map(([, each]) => each ?? "")
      .filter((each) => !/^\w+$/.test(each));
    for (const each of inner) {
      yield { kind: "sign", text: "$(" };
      yield* tokens(each);
      yield { kind: "sign", text: ";" };
    }
    yield {
      kind: "word",
      text: found.replaceAll(/'([^']*)'?|"((?:\\[^]|[^"\\])*)"?|\\([^])/g, (_, one, other, sign) =>
        String(one ?? (typeof other === "string" ? other.replaceAll(/\\(["\\$`])/g, "$1") : (sign ?? ""))),
      ),
    };
  }
}
