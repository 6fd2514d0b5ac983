// The two profiles of the fenced tool-call format as a table: openers, keys, tags, and which departures are accepted.

import { z } from "zod";

export const Profile = z.enum(["strict", "tolerant"]);
export type Profile = z.infer<typeof Profile>;

/** `canonical` is what the contract teaches, `drifted` is what models write instead, `json` is also used for data. */
export type OpenerForm = "canonical" | "drifted" | "json";

export interface Dialect {
  /** What a fence line begins with. A block is closed by its marker alone on a line. */
  readonly markers: readonly string[];
  /** The form of the block that a marker with its info string opens. */
  readonly openers: ReadonlyMap<string, OpenerForm>;
  /** An opener that one more word may follow, as in "tool python"; `word` matches it with the blanks before it. */
  readonly wordOpener: { readonly opener: string; readonly word: RegExp } | undefined;
  /** Keys of a call object, the canonical one first. */
  readonly nameKeys: readonly string[];
  readonly argsKeys: readonly string[];
  /** Other keys of a call object that are no violation. */
  readonly metadataKeys: readonly string[];
  /** Names of wrappers, whose arguments are the real call, unless a tool really has that name. */
  readonly wrapperNames: readonly string[];
  /** Begins a chat-template token that leaked into a name. */
  readonly nameCut: string | undefined;
  /** Tag names of reasoning, lower case; matched in any case. */
  readonly reasoningTags: readonly string[];
  /** How calls in other formats begin: tags (sticky), which may be anywhere, and words at the start of a reply. */
  readonly otherTags: RegExp | undefined;
  readonly otherWords: readonly string[];
  /** What follows the `<` of all tags of dialects, so that most tags need no reading. */
  readonly dialectInitials: string;
  readonly allows: {
    readonly severalObjects: boolean;
    readonly openerClosesBlock: boolean;
    readonly bareCall: boolean;
    /** Calls in the dialects that models were trained on. */
    readonly modelDialects: boolean;
    /** The first closing tag of reasoning that was never opened ends it even after a complete call. */
    readonly lateReasoningClose: boolean;
    /** A `json` block is a call whatever it holds; otherwise only if it is a call of a registered tool. */
    readonly anyJsonBlock: boolean;
    /** Keys beside `name` and `args` are dropped without a violation. */
    readonly unknownKeys: boolean;
  };
  /** Whether fences of other languages are tracked, so that calls quoted in them do not run. */
  readonly tracksForeignFences: boolean;
}

const reasoningTags = ["think", "thinking", "reasoning"];

export const dialects: Readonly<Record<Profile, Dialect>> = {
  strict: {
    markers: ["```"],
    openers: new Map<string, OpenerForm>([
      ["```tool", "canonical"],
      ["```json", "json"],
    ]),
    wordOpener: undefined,
    nameKeys: ["name"],
    argsKeys: ["args"],
    metadataKeys: [],
    wrapperNames: [],
    nameCut: undefined,
    reasoningTags,
    otherTags: undefined,
    otherWords: [],
    dialectInitials: "",
    allows: {
      severalObjects: false,
      openerClosesBlock: false,
      bareCall: false,
      modelDialects: false,
      lateReasoningClose: false,
      anyJsonBlock: true,
      unknownKeys: true,
    },
    tracksForeignFences: false,
  },
  tolerant: {
    markers: ["```", "~~~"],
    openers: new Map<string, OpenerForm>([
      ["```tool", "canonical"],
      ["```tool_code", "drifted"],
      ["```tool_call", "drifted"],
      ["```function_call", "drifted"],
      ["~~~tool", "drifted"],
      ["```json", "json"],
    ]),
    wordOpener: { opener: "```tool", word: /^\s+[\p{L}\p{N}_.:-]+$/u },
    nameKeys: ["name", "tool", "tool_name"],
    argsKeys: ["args", "arguments", "parameters"],
    metadataKeys: ["id", "type"],
    wrapperNames: ["tool", "tool_call", "function", "function_call"],
    nameCut: "<|",
    reasoningTags,
    otherTags:
      /<(?:tool_(?:call|code|use)|function(?:=|_call)|invoke|\|(?:tool_call|python_tag\||channel\|)|\uff5c(?:tool|DSML))/y,
    otherWords: ["[TOOL_CALLS]"],
    dialectInitials: "tfims|\uff5c",
    allows: {
      severalObjects: true,
      openerClosesBlock: true,
      bareCall: true,
      modelDialects: true,
      lateReasoningClose: true,
      anyJsonBlock: false,
      unknownKeys: false,
    },
    tracksForeignFences: true,
  },
};
