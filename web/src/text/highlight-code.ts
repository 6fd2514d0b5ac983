// Colours a line of code by a few signs that most languages share: comments, strings, numbers and common keywords.

type CodeKind = "plain" | "comment" | "string" | "number" | "keyword";

export interface CodePiece {
  readonly kind: CodeKind;
  readonly text: string;
}

const keywords = new Set(
  (
    "abstract as async await break case catch class const continue def default defer delete do elif else enum export " +
    "extends false finally fn for from func function if implements import in interface let loop match mut new nil None " +
    "null of package pass private protected public raise readonly return self static struct super switch this throw " +
    "trait true True False try type undefined use var void while with yield"
  ).split(" "),
);

const hashComments = /\.(?:py|sh|bash|rb|ya?ml|toml|conf|r|pl|mk)$|(?:^|\/)(?:Makefile|Dockerfile)$/i;
const noCode = /\.(?:md|markdown|txt|rst|csv|lock)$/i;
const token =
  /\/\/.*|\/\*.*?(?:\*\/|$)|"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?|`(?:[^`\\]|\\.)*`?|#.*|\b\d[\d_.]*\w*|[A-Za-z_$][\w$]*/g;
/** A longer line is no code that a person reads, so it stays plain. */
const longest = 2_000;

export function highlightLine(line: string, path: string): readonly CodePiece[] {
  if (line === "") return [];
  if (line.length > longest || noCode.test(path)) return [{ kind: "plain", text: line }];
  const hashes = hashComments.test(path);
  const pieces: CodePiece[] = [];
  let from = 0;
  const push = (kind: CodeKind, text: string): void => {
    const last = pieces.at(-1);
    if (last !== undefined && last.kind === kind) pieces[pieces.length - 1] = { kind, text: last.text + text };
    else if (text !== "") pieces.push({ kind, text });
  };
  for (const match of line.matchAll(token)) {
    const kind = kindOf(match[0], hashes);
    push("plain", line.slice(from, match.index));
    push(kind, match[0]);
    from = match.index + match[0].length;
  }
  push("plain", line.slice(from));
  return pieces;
}

function kindOf(found: string, hashes: boolean): CodeKind {
  const first = found.charAt(0);
  if (first === "/") return "comment";
  if (first === "#") return hashes ? "comment" : "plain";
  if (first === '"' || first === "'" || first === "`") return "string";
  if (first >= "0" && first <= "9") return "number";
  return keywords.has(found) ? "keyword" : "plain";
}
