// What the routing policy says of a handoff, written from its text alone; it shares no code with the router.

export interface PolicyInput {
  readonly roles: Readonly<Record<"router" | "info" | "build" | "escalate_to", string>>;
  readonly conf_threshold: number;
  readonly fail_if_conf_less: number;
  readonly rules: readonly string[];
  readonly require_fields: readonly string[];
}

/** The fields of a handoff under their first names. */
export interface HandoffInput {
  readonly texts: Readonly<Record<string, string | undefined>>;
  readonly lists: Readonly<Record<string, readonly string[] | undefined>>;
  readonly conf?: number | undefined;
  readonly confidence_threshold?: number | undefined;
  readonly expected_output?: unknown;
  readonly context?: { readonly state?: string | undefined; readonly refs?: readonly string[] | undefined } | undefined;
  readonly out?: Readonly<Record<string, unknown>> | undefined;
  readonly criteria?: Readonly<Record<string, readonly string[]>> | undefined;
}

export type ExpectedRoute = { readonly model: string; readonly reason: string } | { readonly error: string };

const routerWords =
  "architectural architectural_decision triage tradeoff ambiguous ambiguity security privacy migration incident reliability";
const infoWords =
  "research information information_gathering docs api contract comparison search options lookup investigate";
const buildWords = "code code_change implementation refactor tests test debug debugging execution implement build";

const lower = (text: string): string => text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());

/** A word is found anywhere, inside other words too. */
const has = (text: string, wanted: string): boolean => wanted !== "" && lower(text).includes(wanted);
const hasAny = (text: string, words: readonly string[]): boolean => words.some((word) => has(text, word));

export function expectedRoute(policy: PolicyInput, handoff: HandoffInput): ExpectedRoute {
  const error = problemOf(policy, handoff);
  if (error !== undefined) return { error };
  const { roles } = policy;
  const { scope = "", objective = "" } = handoff.texts;
  const list = (name: string): readonly string[] => handoff.lists[name] ?? [];
  const threshold = Math.max(
    policy.fail_if_conf_less,
    handoff.confidence_threshold ?? policy.conf_threshold,
    policy.conf_threshold,
  );
  if ((handoff.conf ?? 1) < threshold) {
    return { model: roles.escalate_to, reason: "confidence below configured threshold" };
  }
  const triggers = list("fallback_triggers").join(" ");
  const risks = `${scope} ${objective} ${list("risks").join(" ")} ${triggers}`;
  const riskWords = "security privacy migration incident data-loss reliability production".split(" ");
  const sensitive =
    hasAny(risks, [...riskWords, "data loss"]) ||
    list("artifact_refs").some((ref) => hasAny(ref, ["security", "privacy"]));
  const contradictory = list("failed_checks").some((check) =>
    hasAny(check, ["contradictory", "conflict", "inconsistent", "mismatch"]),
  );
  const ambiguous = hasAny(`${scope} ${objective} ${triggers}`, [
    "ambiguous",
    "ambiguity",
    "underdetermined",
    "unclear",
  ]);
  if (sensitive || contradictory || ambiguous) {
    return { model: roles.escalate_to, reason: "risk/contradiction or ambiguous classification requires router" };
  }
  const isAbout = (words: string): boolean => hasAny(scope, words.split(" ")) || hasAny(objective, words.split(" "));
  const to = handoff.texts["to_model"];
  const isAllowed = to !== undefined && Object.values(roles).includes(to.trim());
  if (isAllowed && (isAbout(buildWords) || isAbout(infoWords) || isAbout(routerWords))) {
    return { model: to, reason: "handoff destination honored" };
  }
  const model = isAbout(routerWords)
    ? roles.router
    : isAbout(infoWords)
      ? roles.info
      : isAbout(buildWords)
        ? roles.build
        : (ruleModel(policy, handoff) ?? roles.router);
  return { model, reason: reasonOf(model, policy, handoff) };
}

function reasonOf(model: string, { roles }: PolicyInput, handoff: HandoffInput): string {
  if (model === roles.info) return "matched information-gathering scope";
  if (model === roles.build) return "matched implementation/debugging scope";
  if (model === roles.router) return "matched architectural/decision scope";
  return `matched decision rule ${handoff.texts["scope"] ?? "unknown"}`;
}

function ruleModel({ rules }: PolicyInput, { texts, lists, context }: HandoffInput): string | undefined {
  const { scope = "", objective = "" } = texts;
  const refs = context?.refs ?? [];
  for (const rule of rules) {
    const [first = "", ...more] = rule.split("=>");
    const [left, model] = [lower(first.trim()), more.join("=>").trim()];
    if (more.length === 0 || left === "" || model === "") continue;
    const others = [objective, ...(lists["constraints"] ?? []), ...(lists["artifact_refs"] ?? refs), ...refs];
    if (has(scope, left.split("->")[0] ?? "") || others.some((text) => has(text, left))) return model;
  }
  return undefined;
}

/** Why the handoff cannot be routed. */
function problemOf({ require_fields }: PolicyInput, handoff: HandoffInput): string | undefined {
  const missing = [...new Set(require_fields.filter((field) => !hasField(field, handoff)))].toSorted();
  if (missing.length > 0) return `missing required handoff fields: ${missing.join(", ")}`;
  const contract = ["acceptance_criteria", "assumptions_made", "open_questions", "failed_checks"];
  if (!contract.every((name) => hasItems(handoff, name))) {
    return "handoff must include acceptance_criteria and verification fields (assumptions_made/open_questions/failed_checks)";
  }
  const { conf } = handoff;
  if (conf !== undefined && !(conf >= 0 && conf <= 1)) {
    return `confidence value must be normalized in 0.0..1.0, got ${conf}`;
  }
  return undefined;
}

const hasText = ({ texts }: HandoffInput, name: string): boolean => (texts[name] ?? "").trim() !== "";
const hasItems = ({ lists }: HandoffInput, name: string): boolean => (lists[name] ?? []).length > 0;

function hasField(field: string, handoff: HandoffInput): boolean {
  const { context, out = {}, criteria = {}, expected_output } = handoff;
  switch (field) {
    case "task_id":
    case "from_model":
    case "to_model":
    case "objective":
    case "scope":
      return hasText(handoff, field);
    case "id":
      return hasText(handoff, "task_id");
    case "src":
      return hasText(handoff, "from_model");
    case "dst":
      return hasText(handoff, "to_model");
    case "obj":
      return hasText(handoff, "objective");
    case "current_state":
      return hasText(handoff, field) || (context?.state ?? "").trim() !== "";
    case "artifact_refs":
    case "refs":
      return hasItems(handoff, "artifact_refs") || (context?.refs ?? []).length > 0;
    case "expected_output":
      return expected_output !== undefined && expected_output !== null;
    case "constraints":
    case "acceptance_criteria":
    case "risks":
    case "fallback_triggers":
    case "assumptions_made":
    case "open_questions":
    case "failed_checks":
      return hasItems(handoff, field);
    case "conf":
      return handoff.conf !== undefined;
    case "out":
      return Object.entries(out).some(([, value]) => (Array.isArray(value) ? value.length > 0 : value !== false));
    case "criteria":
      return ["must", "fail"].some((name) => (criteria[name] ?? []).length > 0);
    default:
      return true;
  }
}
