// Finds in a session's own words what it claims to have done, so that each claim can be looked up. A claim proves nothing.

export interface Claims {
  /** Files that are said to have been made or changed, as they were written. */
  readonly files: readonly { readonly path: string; readonly as: "made" | "changed" }[];
  /** Ids of commits, perhaps shortened. */
  readonly commits: readonly string[];
  readonly pullRequests: readonly string[];
  readonly comments: readonly string[];
  /** "All 100 files were updated". */
  readonly fileCounts: readonly number[];
  /** "Every file was updated", without a number. */
  readonly everyFile: boolean;
  /** Folders of which every file is said to have been changed, or every page. */
  readonly wholeFolders: readonly { readonly path: string; readonly of: "files" | "pages" }[];
  /** Commands that are said to have been run. */
  readonly commands: readonly string[];
  /** How many tests are said to have passed. */
  readonly testCounts: readonly number[];
  readonly testsPass: boolean;
  /** Calls of tools that were written as text, such as `<tool_call>`. */
  readonly writtenCalls: boolean;
}

/** Longer texts are read at their beginning and end, longer lines at their beginning. */
const longestText = 200_000;
const longestLine = 2_000;
/** So many claims of a kind are looked up. */
const mostClaims = 50;

const made = /\b(?:created|added|wrote|written|generated)\b/i;
const changed = /\b(?:updated|modified|edited|changed|fixed|refactored|rewrote|rewritten|converted|migrated)\b/i;
/** What is planned, asked for or denied is no claim. */
const unreal =
  /\b(?:not|never|no|would|should|could|will|can|cannot|may|might|plan|todo|need|needs|if|unless|please|must|next)\b|n't\b/i;
const extension =
  /\.(?:[cm]?[jt]sx?|jsonc?|md|mdx|txt|py|rs|go|java|kt|c|h|cc|cpp|hpp|cs|rb|php|swift|scala|sh|bash|ya?ml|toml|ini|cfg|html?|s?css|less|vue|svelte|sql|xml|csv|lock|proto|lua|pl|r|ex|exs|tf)$/i;

const urlPattern = /https:\/\/[\w.-]{1,100}(?::\d{1,5})?\/[\w./#-]{1,300}/g;
const commitPattern =
  /\bcommit(?:ted)?(?: (?:it|this|as|is|id|hash|sha|with|commit)){0,3}[: ]{1,3}[`(]?([0-9a-f]{7,40})\b/gi;
const countPattern = /\b(\d{1,7}) (?:\w{1,20} ){0,2}files?\b/gi;
const everyPattern = /\b(?:all|every|each)(?: (?:of|the|\w{1,20})){0,3} files?\b/i;
/** What follows may say that only some of them are meant. */
const wholePattern =
  /\b(?:all|every|each)(?: one)?(?: of)?(?: the| these| those)?(?: \d{1,6})? (file|page)s? (?:in|of|under|below|inside|within) (?:the )?(?:(?:folder|directory) )?`?([\w@+-][\w@./+-]{0,199})(?![\w@./+-])`?(?! ?(?:that|which|with|where|whose|except|without|having)\b)/gi;
const commandPattern =
  /\b(?:i ran|i have run|i've run|i executed|after running|by running|running)[ :]{1,2}(?:the command )?`([^`\n]{2,200})`/gi;
const testCountPattern =
  /\b(\d{1,7})(?: ?\/ ?\d{1,7})? (?:\w{1,12} )?(?:tests?|specs?) (?:\w{1,12} )?(?:pass|passed|passing|succeeded)\b/gi;
const testsPassPattern =
  /\b(?:all|the) (?:\w{1,12} )?(?:tests?|checks?|specs?) (?:now |still |are )?(?:pass|passed|passing|green|succeed)/i;
const writtenCallPattern =
  /^[ \t]{0,8}(?:<tool_call>|<function_calls>|<invoke name=|<function=|\[TOOL_CALLS?\]|```tool_(?:code|call))/im;

export function findClaims(words: string): Claims {
  const lines = linesOf(words);
  const all = lines.join("\n");
  const realLines = lines.filter((line) => !unreal.test(line));
  const real = realLines.join("\n");
  // "I looked at all 6 files and changed one" claims one change.
  const clauses = realLines.flatMap(clausesOf).filter((clause) => changed.test(clause) || made.test(clause));
  const urls = matches(urlPattern, all).map(([url = ""]) => url.replace(/[.#-]{1,10}$/, ""));
  const testCounts = matches(testCountPattern, real).map(([, count]) => Number(count));
  return {
    files: unique(realLines.flatMap(filesIn), ({ path, as }) => `${as} ${path}`),
    commits: unique(matches(commitPattern, real).map(([, id = ""]) => id.toLowerCase())),
    pullRequests: unique(urls.filter((url) => /\/(?:pull|merge_requests)\/\d{1,9}$/.test(url))),
    comments: unique(urls.filter((url) => /#(?:issuecomment-|discussion_r)\d{1,15}$/.test(url))),
    fileCounts: clauses.flatMap((clause) => matches(countPattern, clause).map(([, count]) => Number(count))),
    everyFile: clauses.some((clause) => everyPattern.test(clause)),
    wholeFolders: unique(clauses.flatMap(wholeFoldersIn), ({ path, of }) => `${of} ${path}`),
    commands: unique(matches(commandPattern, real).map(([, command = ""]) => command)),
    testCounts: unique(testCounts),
    testsPass: testCounts.length > 0 || testsPassPattern.test(real),
    writtenCalls: writtenCallPattern.test(all),
  };
}

function wholeFoldersIn(clause: string): Claims["wholeFolders"] {
  return matches(wholePattern, clause).map(([, what = "", path = ""]) => ({
    path: path.replace(/[./]{1,10}$/, ""),
    of: what.toLowerCase() === "page" ? "pages" : "files",
  }));
}

function clausesOf(line: string): string[] {
  return line.split(/[,;:]|\.\s|\s(?:and|but|then|while)\s/i);
}

/** Like `matchAll`, which copies the pattern at every call and is slow for many short lines. */
function matches(pattern: RegExp, text: string): string[][] {
  const found: string[][] = [];
  pattern.lastIndex = 0;
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) found.push([...match]);
  return found;
}

function linesOf(words: string): string[] {
  const half = longestText / 2;
  const text = words.length <= longestText ? words : `${words.slice(0, half)}\n${words.slice(-half)}`;
  return text.split("\n").map((line) => line.slice(0, longestLine));
}

const quotedPath = /`([\w@./+-]{1,200})`/g;
const quotation = /`[^`]{0,300}`/g;
const plainPath = /(?<![\w:/.@-])[\w@.+-]{1,60}(?:\/[\w@.+-]{1,60}){1,12}/g;

function filesIn(line: string): Claims["files"] {
  const isMade = made.test(line);
  if (!isMade && !changed.test(line)) return [];
  const quoted = matches(quotedPath, line).map(([, path = ""]) => path);
  const plain = matches(plainPath, line.replaceAll(quotation, " ")).map(([path = ""]) => path);
  // A line that adds something to a file does not say that the file is new.
  const as = isMade && !/\b(?:to|in|into|inside|within)\b/i.test(line) ? "made" : "changed";
  return [...quoted, ...plain]
    .map((path) => path.replace(/[.,]{1,10}$/, ""))
    .filter((path) => extension.test(path))
    .map((path) => ({ path, as }));
}

function unique<T>(items: readonly T[], keyOf: (item: T) => unknown = (item) => item): T[] {
  return [...new Map(items.map((item) => [keyOf(item), item])).values()].slice(0, mostClaims);
}
