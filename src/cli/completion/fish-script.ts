// Writes the completion script of fish, in which every word has its explanation.
import type { CommandEntry, OptionEntry, Values } from "./completion-table.ts";

export function fishScript(table: readonly CommandEntry[]): string {
  const moves = table.flatMap(({ path, commands }) =>
    commands
      .filter(({ name }) => name !== "help")
      .map(
        ({ name }) =>
          `      case ${quoted(`${path}|${name}`)}\n        set path ${quoted(path === "" ? name : `${path} ${name}`)}`,
      ),
  );
  const valued = table.flatMap(({ path, options }) =>
    options.flatMap(({ flags, value }) => (value === undefined ? [] : flags.map((flag) => quoted(`${path}|${flag}`)))),
  );
  return `# Completion of tutti for fish. Run once: tutti completion fish > ~/.config/fish/completions/tutti.fish
# True when the words before the current one are this command, and with a second argument, when its argument is at this place.
function __tutti_at
  set -l path ''
  set -l place 0
  set -l skip 0
  set -l words (commandline -opc)
  for word in $words[2..-1]
    if test $skip = 1
      set skip 0
      continue
    end
    switch "$path|$word"
${moves.join("\n")}
      case ${valued.join(" ")}
        set skip 1
      case '*|-*'
      case '*'
        set place (math $place + 1)
    end
  end
  test "$path" = "$argv[1]"; and begin
    test (count $argv) -lt 2; or test $place = "$argv[2]"
  end
end

complete -c tutti -f
${table.flatMap(linesOf).join("\n")}`;
}

function linesOf({ path, commands, options, arguments: operands }: CommandEntry): string[] {
  return [
    ...commands.map(({ name, about }) => `${when(path, 0)} -a ${quoted(name)} -d ${quoted(about)}`),
    ...options.map((option) => optionLine(path, option)),
    ...operands.flatMap((values, place) => (values === "anything" ? [] : [`${when(path, place)} ${valuesOf(values)}`])),
  ];
}

function optionLine(path: string, { flags, about, value }: OptionEntry): string {
  const names = flags.map((flag) => (flag.startsWith("--") ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`));
  const taken = value === undefined ? "" : ` -r ${valuesOf(value)}`;
  return `${when(path)} ${names.join(" ")}${taken.trimEnd()} -d ${quoted(about)}`;
}

function when(path: string, place?: number): string {
  const at = place === undefined ? "" : ` ${place}`;
  return `complete -c tutti -n ${quoted(`__tutti_at "${path}"${at}`)}`;
}

function valuesOf(values: Values): string {
  if (values === "anything") return "";
  if (values === "files") return "-F";
  if (values === "folders") return "-a '(__fish_complete_directories)'";
  if (typeof values === "object") return `-a ${quoted(values.words.join(" "))}`;
  return `-a '(tutti __complete ${values} -- (commandline -opc)[2..-1] 2> /dev/null)'`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
