// Makes replies, policies and handoffs for the comparison with the oracles: mostly well formed, often nearly so.
import type { Chance } from "../support/seeded-random.ts";
import type { HandoffInput, PolicyInput } from "./routing-oracle.ts";

const keys = ["name", "args", "action", "tasks", "message", "summary", "workdir", "prompt", "model", "a", "b"] as const;
const oddScalars = [
  ..."1e999|-0|01|1.|.5|1e5|1E+2|9007199254740993|9007199254740992|tru|true|false|null|NaN|'x'|-|\"\\ud800\"".split(
    "|",
  ),
  ...String.raw`"\ud83d\ude00"|"\x"|"\u00"|"\\"|"\""|"😀"|"{"|"}"|"a b"|"${"`".repeat(3)}"|"\u0061"`.split("|"),
  '"line\nbreak"',
  '"tab\t"',
  '"\u0085"',
];

function space(chance: Chance): string {
  return chance.oneIn(4) ? chance.pick([" ", "\n", "\t", "\r\n", "  ", "\u00a0"]) : "";
}

export function makeJson(chance: Chance, depth = 0): string {
  const kind = chance.below(depth > 3 ? 4 : 8);
  if (kind < 2) return JSON.stringify(chance.pick(["x", "/repo", "do it", "", "  ", "delegate", 'say "hi"', "a\\b"]));
  if (kind < 3) return String(chance.below(100));
  if (kind < 4) return chance.oneIn(3) ? (chance.any(oddScalars) ?? "0") : chance.pick(["null", "true", "[]", "{}"]);
  const items = Array.from({ length: chance.below(4) }, () => makeJson(chance, depth + 1));
  const gap = (): string => space(chance);
  const comma = (): string => (chance.oneIn(60) ? "" : `,${gap()}`);
  if (kind < 5)
    return `[${gap()}${items.reduce((all, item) => (all === "" ? item : all + comma() + item), "")}${gap()}]`;
  const members = items.map((item) => `"${chance.pick(keys)}"${gap()}:${gap()}${item}`);
  return `{${gap()}${members.reduce((all, item) => (all === "" ? item : all + comma() + item), "")}${gap()}}`;
}

function object(chance: Chance, members: readonly (readonly [string, string])[]): string {
  const all = members.filter(() => !chance.oneIn(15)).map(([key, value]) => `"${key}":${space(chance)}${value}`);
  while (chance.oneIn(6)) all.splice(chance.below(all.length + 1), 0, `"${chance.pick(keys)}":${makeJson(chance, 2)}`);
  return `{${space(chance)}${all.join(`,${space(chance)}`)}${space(chance)}}`;
}

/** Cuts, doubles or puts in a piece somewhere. */
function damaged(chance: Chance, text: string): string {
  const at = chance.below(text.length + 1);
  const to = Math.min(text.length, at + 1 + chance.below(4));
  switch (chance.below(4)) {
    case 0:
      return text.slice(0, at) + text.slice(to);
    case 1:
      return text.slice(0, to) + text.slice(at);
    case 2:
      return text.slice(0, at);
    default:
      return (
        text.slice(0, at) +
        chance.pick(["{", "}", '"', "\\", "```", "\n", ",", "[", "]", ":", "é", "\ufeff"]) +
        text.slice(at)
      );
  }
}

function maybeDamaged(chance: Chance, text: string): string {
  let made = text;
  while (chance.oneIn(5)) made = damaged(chance, made);
  // Text that was cut inside a character is no text.
  return made.toWellFormed();
}

const proseLines = ["I will do it.", "", "  ", "a `b` {c}", "``` done", "- ok }", "\u0085", "\ufeff"] as const;

function toolBody(chance: Chance): string {
  if (chance.oneIn(6)) return makeJson(chance);
  const args = chance.oneIn(5)
    ? makeJson(chance, 1)
    : object(chance, [
        ["a", makeJson(chance, 2)],
        ["b", makeJson(chance, 2)],
      ]);
  const name = chance.oneIn(8) ? makeJson(chance, 3) : chance.pick(['"read"', '" edit "', '"run"', '""']);
  const body = object(chance, [
    ["name", name],
    ["args", args],
  ]);
  return chance.oneIn(12) ? `${body}${chance.pick([" x", "{}", "\n\n", ",", "\n[1]", "\u00a0"])}` : body;
}

/** A reply without reasoning tags, of which the format itself says nothing. */
export function makeToolReply(chance: Chance): string {
  const lines: string[] = [];
  for (let count = chance.below(5); count >= 0; count -= 1) {
    const kind = chance.below(4);
    if (kind === 0) lines.push(chance.pick(proseLines));
    else {
      const info = chance.pick([
        "tool",
        "tool",
        "tool",
        "tool",
        "json",
        " tool ",
        "tool\u0085",
        "tool_code",
        "tool x",
        "python",
        "TOOL",
        "",
      ]);
      lines.push(
        `${chance.pick(["", "", "", " ", "\t", "\u00a0", "\ufeff", "> "])}${chance.oneIn(20) ? "````" : "```"}${info}`,
      );
      lines.push(toolBody(chance));
      if (!chance.oneIn(8)) lines.push(chance.pick(["```", "```", "```", " ``` ", "````", "``` x", "}```", "~~~"]));
    }
  }
  const lineBreak = chance.oneIn(8) ? "\r\n" : "\n";
  return maybeDamaged(chance, lines.join(lineBreak) + (chance.oneIn(3) ? lineBreak : "")).replaceAll("<", "(");
}

function task(chance: Chance): string {
  const text = (): string =>
    chance.oneIn(10) ? makeJson(chance, 3) : JSON.stringify(chance.pick(["/repo", "do it", " ", "fix {x}"]));
  const model = chance.oneIn(2) ? "null" : text();
  if (chance.oneIn(8)) return `[${[text(), text(), model, "1"].slice(0, 1 + chance.below(4)).join(", ")}]`;
  return object(chance, [
    ["workdir", text()],
    ["prompt", text()],
    ["model", model],
  ]);
}

function action(chance: Chance): string {
  const tasks = Array.from({ length: chance.below(3) }, () => task(chance)).join(", ");
  const message = chance.oneIn(10) ? makeJson(chance, 3) : JSON.stringify('which {one}? "this"');
  const kind = chance.pick(["delegate", "delegate", "respond", "do_work", "Delegate", "stop"]);
  return object(chance, [
    ["action", chance.oneIn(15) ? makeJson(chance, 3) : `"${kind}"`],
    kind === "respond" ? ["message", message] : kind === "do_work" ? ["summary", message] : ["tasks", `[${tasks}]`],
  ]);
}

export function makeDecisionReply(chance: Chance): string {
  const pieces: string[] = [];
  for (let count = chance.below(3); count >= 0; count -= 1) {
    if (chance.oneIn(2))
      pieces.push(chance.pick(["Here it is:", "{note}:", "see {docs}", 'a " quote', "it's", "\u00a0", ""]));
    const made = chance.oneIn(6) ? makeJson(chance) : action(chance);
    const open = chance.pick(["```json\n", "```\n", "```json ", "```json5\n", "``` json\n"]);
    pieces.push(chance.oneIn(2) ? made : `${open}${made}${chance.oneIn(5) ? "" : "\n```"}`);
  }
  return maybeDamaged(chance, pieces.join(chance.pick([" ", "\n", "\n\n", ""])));
}

const words =
  "latest Research information_gathering docs api code_change Debug build security Privacy data loss data-loss production conflict mismatch unclear ambiguity triage tradeoff incident widget gadget x->y lookups Ünïcode README none and _ code-review éAPI".split(
    " ",
  );

function phrase(chance: Chance): string {
  const usual = chance.oneIn(2) ? ["widget", "gadget", "and", "none", "x->y", "README"] : words;
  return Array.from({ length: chance.below(4) }, () => chance.any(usual) ?? "").join(chance.pick([" ", " ", "_", "/"]));
}

const listNames = [
  "constraints",
  "artifact_refs",
  "acceptance_criteria",
  "risks",
  "fallback_triggers",
  "assumptions_made",
  "open_questions",
  "failed_checks",
] as const;
const textNames = ["task_id", "from_model", "to_model", "objective", "scope", "current_state"] as const;

export function makePolicy(chance: Chance): PolicyInput {
  const model = (name: string): string => (chance.oneIn(5) ? chance.pick(["m1", "m2"]) : name);
  const number = (): number => chance.pick([0, 0.5, 0.85, 0.85, 0.9, 1, 1.5, -1]);
  const rule = (): string =>
    `${chance.pick(["widget", "gadget ", " Gadget", "x->y", "", "none", phrase(chance)])}${chance.pick([" => ", "=>", " -> ", " = "])}${chance.pick(["m3", "m1 => m2", "info", " "])}`;
  const fields = [
    ...listNames,
    ...textNames,
    "conf",
    "expected_output",
    "id",
    "src",
    "dst",
    "obj",
    "refs",
    "out",
    "criteria",
    "whatever",
  ];
  return {
    roles: { router: model("router"), info: model("info"), build: model("build"), escalate_to: model("chief") },
    conf_threshold: number(),
    fail_if_conf_less: number(),
    rules: Array.from({ length: chance.below(4) }, rule),
    require_fields: Array.from({ length: chance.oneIn(3) ? chance.below(5) : 0 }, () => chance.any(fields) ?? "conf"),
  };
}

export function makeHandoff(chance: Chance, policy: PolicyInput): HandoffInput {
  const sometimes = <T>(value: T): T | undefined => (chance.oneIn(8) ? undefined : value);
  const list = (): string[] => Array.from({ length: chance.oneIn(12) ? 0 : 1 + chance.below(2) }, () => phrase(chance));
  const texts: Record<string, string | undefined> = {};
  for (const name of textNames) texts[name] = sometimes(phrase(chance));
  texts["to_model"] = chance.oneIn(2)
    ? undefined
    : `${chance.any(Object.values(policy.roles)) ?? ""}${chance.pick(["", "", " ", "x"])}`;
  const lists: Record<string, string[] | undefined> = {};
  for (const name of listNames) lists[name] = chance.oneIn(40) ? undefined : list();
  const number = (): number => chance.pick([0, 0.3, 0.85, 0.9, 0.95, 1, 1, 1, 1.5, -0.5]);
  return {
    texts,
    lists,
    conf: sometimes(number()),
    confidence_threshold: chance.oneIn(3) ? number() : undefined,
    expected_output: chance.pick([undefined, "text", { a: 1 }, [], false]),
    context: chance.oneIn(2) ? undefined : { state: sometimes(phrase(chance)), refs: sometimes(list()) },
    out: chance.oneIn(2)
      ? undefined
      : chance.pick<Record<string, unknown>>([
          {},
          { recommended: true },
          { recommended: false },
          { files: [] },
          { tests: ["t"] },
          { format: "" },
          { diff_summary: false },
          { alternatives: 2 },
        ]),
    criteria: chance.oneIn(2)
      ? undefined
      : chance.pick<Record<string, string[]>>([
          {},
          { must: ["x"] },
          { fail: [] },
          { optional: ["x"] },
          { must: [], fail: ["y"] },
        ]),
  };
}
