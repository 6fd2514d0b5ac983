// Finds added lines with which code under test could decide what its check says. They prove nothing; somebody has to look.

import type { SuspectLine } from "../protocol/task/evidence.ts";
import { escapeInvisible } from "./escape-invisible.ts";

export interface AddedLine {
  readonly path: string;
  /** From 1. */
  readonly line: number;
  readonly text: string;
}

type Language = "js" | "python" | "go" | "rust" | "shell" | "config" | "other";

interface Suspicion {
  readonly pattern: RegExp;
  readonly why: string;
  readonly languages: readonly Language[];
}

const mostSuspect = 20;
const longestText = 200;
/** The rest of a longer line is looked at as well, in pieces that overlap by more than any pattern is long. */
const pieceLength = 2_000;
const overlap = 300;

const endings: Readonly<Record<string, Language>> = {
  ...Object.fromEntries(["js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx"].map((end) => [end, "js"])),
  py: "python",
  pyi: "python",
  pth: "python",
  go: "go",
  rs: "rust",
  ...Object.fromEntries(["sh", "bash", "zsh", "mk"].map((end) => [end, "shell"])),
  ...Object.fromEntries(["json", "toml", "cfg", "ini", "yml", "yaml"].map((end) => [end, "config"])),
};
/** Prose runs nowhere. */
const prose = /(?:^|\/)(?:docs?\/.*|[^/]+)\.(?:md|mdx|markdown|rst|adoc|txt|html|css|svg|csv)$/i;

const code: readonly Language[] = ["js", "python", "go", "rust", "shell", "other"];
const ends = "ends the process";
const swallows = "swallows failures";
const judges = "touches the runner or its assertions";
const prints = "prints what a test runner prints";
const reaches = "reaches other processes or their output";
const places = "names a place of this machine";

const suspicions: readonly Suspicion[] = [
  {
    pattern:
      /\bprocess\s*(?:\?\.|[.[])\s*\[?\s*["'`]?(?:exit|reallyExit|kill|abort|_kill|dlopen|binding|_linkedBinding)\b|^\s*\.\s*(?:exit|reallyExit)\s*\(|["'`](?:node:process|process|p?kill|killall)["'`]/,
    why: ends,
    languages: ["js"],
  },
  {
    pattern: /\{[^}]{0,200}\b(?:exit|kill|abort|reallyExit)\b[^}]{0,200}\}\s*=\s*(?:globalThis\.)?process\b/,
    why: ends,
    languages: ["js"],
  },
  { pattern: /\bprocess\s*\.\s*exitCode\s*=\s*(?:0|undefined|null|false)\b/, why: ends, languages: ["js"] },
  { pattern: /\bprocess\s*\[\s*[^"'`\]\s]/, why: ends, languages: ["js"] },
  { pattern: /\b(?:Deno|Bun)\s*\.\s*(?:exit|kill)\b/, why: ends, languages: ["js"] },
  {
    pattern:
      /\bos\s*\.\s*(?:_exit|abort|kill|killpg|exec\w{1,3})\b|\bfrom\s+os\s+import\b.*\b(?:_exit|abort|kill|killpg|exec\w{1,3})\b/,
    why: ends,
    languages: ["python"],
  },
  { pattern: /\b(?:raise\s+SystemExit|SystemExit\s*\(|atexit\b|faulthandler\b)/, why: ends, languages: ["python"] },
  { pattern: /^(?:sys\.exit|exit|quit)\s*\(|^from\s+sys\s+import\b.*\bexit\b/, why: ends, languages: ["python"] },
  {
    pattern: /\b(?:os\.Exit|syscall\.(?:Exit|Kill|Exec)|runtime\.Goexit|log\.Fatal\w{0,2})\b/,
    why: ends,
    languages: ["go"],
  },
  {
    pattern: /\bprocess::(?:exit|abort)\b|\blibc::\w{0,4}exit\b|\buse\s+std::process::\{?.{0,80}\b(?:exit|abort)\b/,
    why: ends,
    languages: ["rust"],
  },
  {
    pattern:
      /\b(?:on|once|addListener|prependListener|prependOnceListener|setUncaughtExceptionCaptureCallback)\s*\(\s*["'`](?:uncaughtException(?:Monitor)?|unhandledRejection|rejectionHandled|exit|beforeExit|SIG[A-Z]+)["'`]/,
    why: swallows,
    languages: ["js"],
  },
  {
    pattern: /\bsetUncaughtExceptionCaptureCallback\b|["'`](?:uncaughtException|unhandledRejection)["'`]/,
    why: swallows,
    languages: ["js"],
  },
  {
    pattern: /\bexcept\s*:|\bexcept\s*\(?[^:]{0,100}\b(?:BaseException|AssertionError)\b/,
    why: swallows,
    languages: ["python"],
  },
  { pattern: /\bsuppress\s*\(\s*(?:BaseException|AssertionError|Exception)\b/, why: swallows, languages: ["python"] },
  {
    pattern:
      /\bsys\s*\.\s*(?:excepthook|unraisablehook|settrace|setprofile|__\w+__)|\bthreading\s*\.\s*(?:excepthook|settrace)\b|\bsignal\s*\.\s*(?:signal|alarm|setitimer)\b/,
    why: swallows,
    languages: ["python"],
  },
  { pattern: /\bpanic::(?:set_hook|take_hook|catch_unwind)\b|\bcatch_unwind\b/, why: swallows, languages: ["rust"] },
  {
    pattern:
      /(?:\bfrom\s+|\bimport\s*\(?\s*|\brequire\s*(?:\.\w+)?\s*\(\s*|\bgetBuiltinModule\s*\(\s*|\bcreateRequire\b.{0,60})["'`](?:node:)?(?:assert(?:\/strict)?|test(?:\/reporters)?|module|vm|inspector(?:\/promises)?|vitest(?:\/[\w/-]+)?|@vitest\/[\w-]+|jest(?:-[\w-]+)?|@jest\/[\w-]+|mocha|chai|expect|sinon|tap|tape|ava)["'`]/,
    why: judges,
    languages: ["js"],
  },
  {
    pattern:
      /\b(?:globalThis|global)\s*(?:\.|\[\s*["'`])\s*(?:assert|expect|test|it|describe|process|console|Error|beforeEach|afterEach|beforeAll|afterAll)\b["'`]?\s*\]?\s*=[^=]/,
    why: judges,
    languages: ["js"],
  },
  {
    pattern:
      /\bModule\s*\.\s*_\w+|\brequire\s*\.\s*(?:cache|extensions)\b|\bregisterHooks\b|\bNODE_OPTIONS\b|\bNODE_TEST_CONTEXT\b|--(?:import|require|loader|experimental-loader)\b|\bnode:(?:module|test|inspector|vm)\b/,
    why: judges,
    languages: ["js", "shell", "config", "other"],
  },
  {
    pattern:
      /\b(?:Object|Array|String|Error|Promise|Function|Number|RegExp|Map|Set|Symbol)\s*\.\s*prototype\s*(?:\.\s*\w+|\[[^\]]{1,80}\])\s*=[^=]|\bObject\s*\.\s*(?:is|defineProperty|setPrototypeOf|keys|entries|assign)\s*=[^=]|\b(?:JSON|Reflect)\s*\.\s*\w+\s*=[^=]/,
    why: judges,
    languages: ["js"],
  },
  {
    pattern:
      /\bdefineProperty\s*\(\s*(?:globalThis|global|process|console|assert|(?:Object|Array|String|Error|Promise|Function)\.prototype)\b/,
    why: judges,
    languages: ["js"],
  },
  {
    pattern:
      /\b(?:process|console)\s*\.\s*(?:(?:stdout|stderr)\s*\.\s*)?(?:write|log|error|info|emit|exit|nextTick|_\w+)\s*=[^=>]/,
    why: judges,
    languages: ["js"],
  },
  { pattern: /\beval\s*\(|\bnew\s+Function\s*\(/, why: "runs code that cannot be read here", languages: ["js"] },
  {
    pattern: /(?<![\w.])(?:exec|eval|compile|__import__)\s*\(|\bimportlib\b|\bctypes\b/,
    why: "runs code that cannot be read here",
    languages: ["python"],
  },
  {
    pattern:
      /^\s*(?:import|from)\s+(?:\w+\s*,\s*)*(?:unittest|pytest|_pytest|doctest|nose2?|pluggy|builtins|gc)\b|\bunittest\s*\.|\bpytest_\w+\b|\b__builtins__\b|\bbuiltins\s*\.\s*\w+\s*=[^=]/,
    why: judges,
    languages: ["python"],
  },
  {
    pattern:
      /\bsys\s*\.\s*(?:modules|meta_path|path_hooks|_getframe|stdout\s*=|stderr\s*=|argv\s*=)|\binspect\s*\.\s*(?:stack|currentframe)\b|\b__(?:eq|ne|bool|contains)__\s*=|\bdef\s+__(?:eq|ne|bool|contains|lt|gt)__\s*\(.{0,200}\n?\s*return\s+(?:True|False)\s*$/,
    why: judges,
    languages: ["python"],
  },
  { pattern: /\bsetattr\s*\(\s*(?:sys|builtins|unittest|os)\b/, why: judges, languages: ["python"] },
  {
    pattern: /"(?:testing|testing\/\w+|unsafe)"\s*$|\btesting\.(?:T|M|Testing|Init)\b|\/\/go:linkname/,
    why: judges,
    languages: ["go"],
  },
  {
    pattern:
      /#!?\[\s*(?:cfg_attr|no_main|ctor|used|link_section|test_runner|macro_export)|\bmacro_rules!\s*(?:assert|panic)\w*|\bextern\s+"C"/,
    why: judges,
    languages: ["rust"],
  },
  {
    pattern:
      /["'`](?:\\n|\s)*(?:# (?:tests|pass|fail|suites)\b|(?:not )?ok \d|1\.\.\d|ℹ (?:tests|pass|fail)|Tests: {2,10}|Test (?:Suites|Files)\b|--- (?:PASS|FAIL)|PASS\b|[✔✖] |Ran \d+ test|Ran \$?\{|test result:|TAP version)|[\d}] (?:passed|passing)\b|=+ .{0,40} passed in |\bpassed in \d/,
    why: prints,
    languages: code,
  },
  {
    pattern: /["'`/]proc\/|["'`]\/dev\/(?:fd|tty|std|pts|shm|mem)|\bppid\b|\bgetppid\b|\bPTRACE|\bptrace\b/i,
    why: reaches,
    languages: code,
  },
  {
    pattern:
      /\b(?:writeSync|write|createWriteStream|writeFileSync|openSync|fdopen|dup2?)\s*\(\s*(?:[012]\b|["'`]\/dev)/,
    why: reaches,
    languages: ["js", "python"],
  },
  {
    pattern:
      /["'`(=\s](?:\/(?:home|root|Users|tmp|var|etc|mnt|media|srv|opt|run|usr|private|Volumes)\/|~\/|[A-Z]:\\\\)/,
    why: places,
    languages: [...code, "config"],
  },
];

/** Where the tests of a project are by their names. */
const testFile =
  /(?:^|\/)(?:tests?|__tests?__|specs?|__mocks__|testdata|e2e|fixtures)\/|[._-](?:tests?|specs?)\.[^/]+$|(?:^|\/)test_[^/]+\.py$|(?:^|\/)(?:tests?\.[^/]+|conftest\.py)$/;

export function isProse(path: string): boolean {
  return prose.test(path);
}

export function isTestPath(path: string): boolean {
  return testFile.test(path);
}

/**
 * `isOwn`: whether a path is the check's own; those are judged in another way. `known`: why lines are suspect for another
 * reason, by their place in the list.
 */
export function suspectLines(
  added: readonly AddedLine[],
  isOwn: (path: string) => boolean,
  known: ReadonlyMap<number, string> = new Map(),
): SuspectLine[] {
  const found: SuspectLine[] = [];
  for (const [at, { path, line, text }] of added.entries()) {
    if (found.length >= mostSuspect) break;
    if (isOwn(path) || isProse(path)) continue;
    const before = added[at - 1];
    const language = languageOf(path);
    // What a function returns stands on the line after it.
    const pair = before?.path === path && before.line === line - 1 ? `${before.text.slice(-overlap)}\n${text}` : text;
    const why =
      suspicionOf(text, language) ?? (language === "python" ? suspicionOf(pair, language) : undefined) ?? known.get(at);
    if (why !== undefined) {
      found.push({ path, line, text: escapeInvisible(text.trim().slice(0, longestText).toWellFormed()), why });
    }
  }
  return found;
}

function languageOf(path: string): Language {
  const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
  if (/^(?:gnu)?makefile$|^\.?justfile$/.test(name)) return "shell";
  return endings[name.slice(name.lastIndexOf(".") + 1)] ?? "other";
}

function suspicionOf(line: string, language: Language): string | undefined {
  // Languages end a line, and with it a comment, where git does not.
  for (const text of line.split(/[\r\u2028\u2029\f\v]/)) {
    const why = isComment(text, language) ? undefined : suspicionOfPart(text, language);
    if (why !== undefined) return why;
  }
  return undefined;
}

function suspicionOfPart(text: string, language: Language): string | undefined {
  for (let from = 0; from === 0 || from + overlap < text.length; from += pieceLength - overlap) {
    const piece = text.slice(from, from + pieceLength);
    const found = suspicions.find(({ pattern, languages }) => languages.includes(language) && pattern.test(piece));
    if (found !== undefined) return found.why;
  }
  return undefined;
}

/** A line that is a comment from its beginning to its end. */
function isComment(text: string, language: Language): boolean {
  const line = text.trim();
  switch (language) {
    case "js":
    case "go":
    case "rust":
      return line.startsWith("//") && !line.startsWith("//go:");
    case "python":
    case "shell":
      return line.startsWith("#") && !line.startsWith("#!");
    case "config":
    case "other":
      return false;
  }
}
