// Finds added lines by which work can tell where and when it runs, so that it could be right only while it is checked.
//
// What a language computes with is left out, and everything else of its platform counts: names are listed only as harmless.

import type { AddedLine } from "../core/suspect-lines.ts";
import { isPythonLibrary } from "./anatomy/python-library.ts";
import { codeLines, type CodeLine } from "./code-lines.ts";

const asks = "can tell where and when it runs";
const equal = "decides itself what it is equal to";
const builds = "runs while the work is built";

/** The reason for each line that has one, by its place in the list. */
export function reachingLines(added: readonly AddedLine[]): Map<number, string> {
  const found = new Map<number, string>();
  const lines = codeLines(added);
  for (const [at, line] of lines.entries()) {
    const why = reasonFor(line, lines[at + 1]);
    if (why !== undefined) found.set(line.at, why);
  }
  return found;
}

function reasonFor(line: CodeLine, next: CodeLine | undefined): string | undefined {
  // Go takes some comments for orders.
  if (line.code.trim() === "" && line.language !== "go") return undefined;
  switch (line.language) {
    case "js":
      return reachOfJavascript(line);
    case "python":
      return reachOfPython(line);
    case "go":
      return reachOfGo(line);
    case "rust":
      return reachOfRust(line, next);
    case "shell":
      return reachOfShell(line);
  }
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(" "));

/** Modules of node that neither tell of the process and the machine nor change what the language is. */
const plainModules = words(
  "path url util events buffer string_decoder querystring punycode stream zlib crypto fs http https http2 net tls dns readline timers worker_threads sqlite constants",
);
/** Globals of the platform that do. */
const platform =
  /(?<![\w$.])(?:globalThis|eval|Function|WebAssembly|Deno|Bun|SharedArrayBuffer|FinalizationRegistry|WeakRef)(?![\w$]|\s*:(?!:))|(?<![\w$.])(?:global|self|window|navigator|performance)\s*(?:\?\.|[.[])|\btypeof\s+(?:global|self|window|navigator|performance)\b|=\s*(?:global|self|window|navigator|performance)\s*[;,)]|\bReflect\s*\.\s*apply\b/;
const processUse =
  /(?<![\w$.])process(?![\w$])(?!\s*\.\s*(?:(?:stdout|stderr)\s*\.\s*write\s*\(|stdin\b|nextTick\s*\(|argv\s*\.\s*slice\s*\(\s*2\s*[,)]|argv\s*\[\s*[2-9]\s*\]|exitCode\s*=\s*[1-9]))(?!\s*:(?!:))/;
const clock =
  /(?<![\w$.])(?:Date\s*\.\s*now\b|new\s+Date\s*(?:\(\s*\)|(?![\s\w$(.]))|Date\s*\(\s*\)|Math\s*\.\s*random\b)/;
const ownStack =
  /(?:\)|\b(?:e|err|error|thrown|failure|exception|cause))\s*\??\.\s*stack(?![\w$])|\{[^}]*\bstack\b[^}]*\}\s*=|\barguments\s*\.\s*callee\b|\b(?:captureStackTrace|prepareStackTrace)\b|\.\s*constructor\s*(?:\(|\.\s*constructor|\[)|\b__proto__\b/;
const ownPlace = /\bimport\s*\.\s*meta\b(?!\s*\.\s*(?:url\s*\)|resolve\b))/;
const nodeModule = /(?:\bfrom|\bimport|\b(?:import|require|getBuiltinModule)\s*\()\s*$/;
const equalInJs =
  /\bSymbol\s*\.\s*toPrimitive\b|\bnew\s+Proxy\b|(?:^|[,{;}])\s*(?:async\s+|get\s+)?(?:valueOf|asymmetricMatch)\s*[(:]|\.\s*(?:valueOf|asymmetricMatch)\s*=[^=]/;
const bareModules = words(
  "async_hooks child_process cluster diagnostics_channel domain inspector module os perf_hooks process repl trace_events tty v8 vm wasi test",
);

function reachOfJavascript({ code, strings, text }: CodeLine): string | undefined {
  if (platform.test(code) || processUse.test(code) || clock.test(code) || ownStack.test(code)) return asks;
  if (ownPlace.test(code)) return asks;
  // A member whose name is put together is one that should not be read.
  if (/(?<!\b(?:return|case|in|of|await|yield|typeof))(?<=[\w$)\]])\s*\[\s*""\s*[+(]/.test(code)) return asks;
  if (/\bimport\s*\(\s*(?!"")/.test(code) || /(?<![\w$.])require\s*(?!\s*\(\s*"")(?=[^\w\s$:])/.test(code)) return asks;
  for (const { value, before } of strings) {
    if (!nodeModule.test(before)) continue;
    const [, name = value] = /^node:(.*)$/.exec(value) ?? [];
    const [first = ""] = name.split("/");
    if (value.startsWith("node:") ? !plainModules.has(first) : bareModules.has(first)) return asks;
    if (/^(?:data|file|https?):/.test(value)) return asks;
  }
  if (equalInJs.test(code)) return equal;
  return looksForGit(text) ? asks : undefined;
}

function looksForGit(text: string): boolean {
  return /["'`/]\.git(?:["'`/\s]|$)/.test(text);
}

/** Modules of python's library that are about values and files alone. */
const plainPython = words(
  "__future__ abc argparse array ast asyncio base64 binascii bisect calendar cmath codecs collections colorsys concurrent configparser contextlib copy csv dataclasses decimal difflib email enum fnmatch fractions functools glob graphlib gzip hashlib heapq hmac html http io ipaddress itertools json keyword locale logging lzma math mimetypes numbers operator pathlib pprint queue random re reprlib sched secrets shlex shutil sqlite3 statistics string stringprep struct tempfile textwrap threading types typing unicodedata urllib uuid warnings weakref xml zipfile zlib zoneinfo",
);
/** What is asked of these counts, and not that they are imported. */
const askedPython = words("os sys time datetime");
const askingPython =
  /(?<![\w.])(?:os\s*\.\s*(?!path\b|(?:sep|linesep|makedirs|mkdir|remove|unlink|rename|replace|listdir|walk|scandir|rmdir|fspath|PathLike)\b)\w|sys\s*\.\s*(?!(?:stdin|maxsize|byteorder|float_info|exit|version_info|exc_info|maxunicode|hexversion|getsizeof|getrecursionlimit)\b|(?:stdout|stderr)(?:\s*\.\s*write\b|\s*[,)])|argv\s*\[\s*[1-9])\w|time\s*\.\s*(?!(?:sleep|strftime|strptime|mktime)\b)\w)|\b(?:now|today|utcnow)\s*\(\s*\)|(?<![\w.])(?:globals|locals|vars|breakpoint|__loader__|__spec__)\b\s*(?:\(|\.)|(?<![\w.])__file__\b/;
const plainDunder =
  /\.__(?:init|name|doc|class|new|str|repr|hash|setattr|getattribute|version|members|post_init|annotations|module|qualname|init_subclass|enter|exit|aenter|aexit|iter|next|len|getitem|setitem)__/g;
const equalInPython =
  /\bdef\s+__(?:eq|ne|lt|le|gt|ge|bool|contains|instancecheck|subclasscheck|index|float|int|getattribute)__|(?<![\w.])type\s*\([^()]*,|\bgetattr\s*\(\s*(?:os|sys|time|datetime|__builtins__|builtins)\b/;

function reachOfPython({ code, strings, text }: CodeLine): string | undefined {
  const imported = /^\s*(?:from\s+([\w.]+)\s+import\b|import\s+(.+))/.exec(code);
  if (imported !== null) {
    const [, from, list = ""] = imported;
    const names = from === undefined ? list.split(",").map((each) => each.trim()) : [from];
    for (const each of names) {
      const [module = "", as] = each.split(/\s+as\s+/);
      const [top = ""] = module.split(".");
      if (askedPython.has(top)) {
        // Under another name, what is asked of it would not be seen.
        const isPlain = from === undefined ? as === undefined : module === "datetime" || module === "os.path";
        if (!isPlain) return asks;
      } else if (isPythonLibrary(top) && !plainPython.has(top)) return asks;
    }
    return undefined;
  }
  if (askingPython.test(code)) return asks;
  if (/\.__\w+__/.test(code.replaceAll(plainDunder, ""))) return asks;
  if (equalInPython.test(code)) return equal;
  if (strings.some(({ value }) => value.startsWith("__") && !/^__(?:main|all|init)__$/.test(value))) return equal;
  return looksForGit(text) ? asks : undefined;
}

const plainGo = words(
  "bufio bytes cmp container context crypto database embed encoding errors fmt go hash html image index io iter log maps math mime net path reflect regexp slices sort strconv strings sync text unicode",
);
const askedGo = words("os time flag");
const askingGo =
  /(?<![\w.])(?:os\s*\.\s*(?!(?:ReadFile|WriteFile|Open|OpenFile|Create|CreateTemp|MkdirTemp|Mkdir|MkdirAll|Remove|RemoveAll|Rename|ReadDir|Stat|Lstat|Stdin|Stdout|Stderr|File|FileMode|FileInfo|DirFS|Exit|ErrNotExist|ErrExist|IsNotExist|IsExist|O_[A-Z]+|PathSeparator|Args\s*\[\s*[1-9])\b)\w|time\s*\.\s*(?:Now|Since|Until|After|AfterFunc|Tick|NewTimer|NewTicker)\b|flag\s*\.\s*(?:Lookup|CommandLine|Visit|VisitAll|Set|Parsed)\b)/;

function reachOfGo({ code, strings, text }: CodeLine): string | undefined {
  if (/^\s*\/\/(?:go:|\s*\+build)/.test(text)) return asks;
  const [only] = strings;
  const alias = /^\s*(?:import\s+)?\(?\s*([\w.]*)\s*""\s*\)?\s*$/.exec(code)?.[1];
  if (alias !== undefined && only !== undefined && strings.length === 1) {
    const [top = ""] = only.value.split("/");
    if (askedGo.has(top)) return alias === "" && only.value === top ? undefined : asks;
    return !top.includes(".") && /^[a-z]+$|^C$/.test(top) && !plainGo.has(top) && isGoLibrary(top) ? asks : undefined;
  }
  return askingGo.test(code) ? asks : undefined;
}

/** A module without a dot in its first part can also be one of the repository. */
function isGoLibrary(top: string): boolean {
  return /^(?:C|archive|arena|compress|debug|expvar|internal|plugin|runtime|syscall|testing|unique|unsafe|weak)$/.test(
    top,
  );
}

const plainRust = words(
  "any array ascii borrow boxed cell char clone cmp collections convert default error f32 f64 fmt fs hash i8 i16 i32 i64 i128 io isize iter marker mem net num ops option path pin prelude rc result slice str string sync task thread time u8 u16 u32 u64 u128 usize vec",
);

function reachOfRust({ code, path }: CodeLine, next: CodeLine | undefined): string | undefined {
  if (/(?:^|\/)build\.rs$/.test(path)) return builds;
  for (const [, group, one = ""] of code.matchAll(/\b(?:std|core|alloc)\s*::\s*(?:\{([^}]*)\}?|(\w+))/g)) {
    const names = group === undefined ? [one] : group.split(",").map((each) => each.trim().split(/::|\s/)[0] ?? "");
    if (names.some((name) => name !== "" && name !== "self" && !plainRust.has(name))) return asks;
  }
  if (/\b(?:SystemTime|Instant)\b|\bunsafe\b/.test(code)) return asks;
  if (/\b(?:cfg|option_env|env|include|include_str|include_bytes|module_path|file|line|column)\s*!/.test(code))
    return asks;
  if (/#!?\s*\[\s*cfg\s*\(/.test(code)) {
    const isTestModule = /#\s*\[\s*cfg\s*\(\s*test\s*\)\s*\]\s*(?:(?:pub\s+)?(?:mod|use)\b.*)?$/.test(code);
    const follows = /\]\s*$/.test(code) ? next?.path === path && /^\s*(?:pub\s+)?(?:mod|use)\b/.test(next.code) : true;
    if (!isTestModule || !follows) return asks;
  }
  if (/\bimpl\b.*\b(?:PartialEq|PartialOrd|Ord)\b.*\bfor\b|\bmacro_rules\s*!/.test(code)) return equal;
  return undefined;
}

/** Names that a shell or its caller sets, and looks at the process. */
function reachOfShell({ code, path, own }: CodeLine): string | undefined {
  if (/(?:makefile|justfile|\.mk)$/i.test(path)) return undefined;
  for (const [, name = ""] of code.matchAll(/\$\{?[#!]?([A-Z_][A-Z0-9_]*)/g)) if (!own.has(name)) return asks;
  if (/\$\{?[0$_-](?!\w)|(?:\[|\btest\b).*\s-t(?:\s|$)/.test(code)) return asks;
  return /(?:^|[;&|(`]|\b(?:if|then|else|do|while|!))\s*(?:tty|ps|pgrep|pstree|date|env|printenv|uname|hostname|id|whoami|uptime|alias|trap)(?:\s|;|\)|$)/.test(
    code,
  )
    ? asks
    : undefined;
}
