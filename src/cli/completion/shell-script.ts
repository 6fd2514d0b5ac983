// Writes the completion scripts of bash and zsh. Both share two functions that plain shells understand, too.
import { type CommandEntry, lookedUp, type Values } from "./completion-table.ts";

/** Nothing in the script comes from outside: it is made of the declared commands, whose words need no quoting in a case. */
function sharedFunctions(table: readonly CommandEntry[]): string {
  const places = table.flatMap(({ path, commands }) =>
    commands
      .filter(({ name }) => name !== "help")
      .map(({ name }) => `      '${path}|${name}') tutti_path='${path === "" ? name : `${path} ${name}`}' ;;`),
  );
  const valued = table.flatMap(({ path, options }) =>
    options.flatMap(({ flags, value }) => (value === undefined ? [] : flags.map((flag) => ({ path, flag, value })))),
  );
  const optionValues = valued.flatMap(({ path, flag, value }) => offer(`'${path}|${flag}'`, value));
  const options = table.map(({ path, options: own }) =>
    words(
      `'${path}'`,
      own.flatMap(({ flags }) => flags),
    ),
  );
  const operands = table.flatMap(({ path, commands, arguments: own }) => [
    ...(commands.length === 0
      ? []
      : [
          words(
            `'${path}|0'`,
            commands.map(({ name }) => name),
          ),
        ]),
    ...own.flatMap((value, place) => offer(`'${path}|${place}'`, value)),
  ]);
  return `# What the words before the current one say: the command, the place of the next argument, and an option without its value.
_tutti_look() {
  local word
  tutti_path= tutti_place=0 tutti_option=
  for word in "$@"; do
    if [ -n "$tutti_option" ]; then
      tutti_option=
      continue
    fi
    case "$tutti_path|$word" in
${places.join("\n")}
${valued.length === 0 ? "" : `      ${valued.map(({ path, flag }) => `'${path}|${flag}'`).join("|")}) tutti_option="$word" ;;`}
      *'|-'*) ;;
      *) tutti_place=$((tutti_place + 1)) ;;
    esac
  done
}

# What can follow: words, or a kind of value that is looked up.
_tutti_offer() {
  tutti_kind= tutti_words=
  if [ -n "$tutti_option" ]; then
    case "$tutti_path|$tutti_option" in
${optionValues.join("\n")}
    esac
    return
  fi
  case "$1" in
    -*)
      case "$tutti_path" in
${options.join("\n")}
      esac
      return
      ;;
  esac
  case "$tutti_path|$tutti_place" in
${operands.join("\n")}
  esac
}`;
}

function offer(pattern: string, values: Values): string[] {
  if (values === "anything") return [];
  if (typeof values === "object") return [words(pattern, values.words)];
  return [`      ${pattern}) tutti_kind=${values} ;;`];
}

function words(pattern: string, list: readonly string[]): string {
  return `      ${pattern}) tutti_words='${list.join("\n")}' ;;`;
}

/** Names that are looked up are compared as text: \`compgen -W\` would execute what is in them. */
export function bashScript(table: readonly CommandEntry[]): string {
  return `# Completion of tutti for bash. Put this line into ~/.bashrc: source <(tutti completion bash)
${sharedFunctions(table)}

_tutti() {
  local tutti_path tutti_place tutti_option tutti_kind tutti_words word cur="\${COMP_WORDS[COMP_CWORD]}"
  COMPREPLY=()
  _tutti_look "\${COMP_WORDS[@]:1:COMP_CWORD-1}"
  _tutti_offer "$cur"
  case "$tutti_kind" in
    files)
      compopt -o filenames 2> /dev/null
      while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "$cur")
      return
      ;;
    folders)
      compopt -o filenames 2> /dev/null
      while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -d -- "$cur")
      return
      ;;
    ${lookedUp.join("|")})
      tutti_words="$("\${COMP_WORDS[0]}" __complete "$tutti_kind" -- "\${COMP_WORDS[@]:1}" 2> /dev/null)"
      ;;
  esac
  while IFS= read -r word; do
    case "$word" in
      '') ;;
      "$cur"*) COMPREPLY+=("$word") ;;
    esac
  done <<< "$tutti_words"
}

complete -F _tutti tutti`;
}

export function zshScript(table: readonly CommandEntry[]): string {
  return `#compdef tutti
# Completion of tutti for zsh. Put this line into ~/.zshrc, after compinit: source <(tutti completion zsh)
${sharedFunctions(table)}

_tutti() {
  local tutti_path tutti_place tutti_option tutti_kind tutti_words
  local -a found
  _tutti_look "\${(@)words[2,CURRENT-1]}"
  _tutti_offer "\${words[CURRENT]}"
  case "$tutti_kind" in
    files) _files; return ;;
    folders) _files -/; return ;;
    ${lookedUp.join("|")})
      tutti_words="$("\${words[1]}" __complete "$tutti_kind" -- "\${(@)words[2,-1]}" 2> /dev/null)"
      ;;
  esac
  found=("\${(@f)tutti_words}")
  compadd -- "\${(@)found:#}"
}

if [ "\${funcstack[1]}" = _tutti ]; then _tutti "$@"; else compdef _tutti tutti; fi`;
}
