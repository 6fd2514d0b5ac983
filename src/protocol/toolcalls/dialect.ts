// The vocabulary of the fenced tool-call format: every opener, key, tag and permission a profile knows, in one table.

export type Profile = "strict" | "tolerant";

/** `canonical` is what the contract teaches, `drifted` a fence models slip into, `json` one that is also used for data. */
export type OpenerForm = "canonical" | "drifted" | "json";

export interface Dialect {
  /** What can begin a fence line; the closer of a block is its marker alone on a line. */
  readonly markers: readonly string[];
  /** Marker and info string, glued, to the form of the block it opens. */
  readonly openers: ReadonlyMap<string, OpenerForm>;
  /** An opener that may carry one more word, as in "tool python", and that word with the blanks before it. */
  readonly wordOpener: { readonly opener: string; readonly word: RegExp } | undefined;
  /** Keys of a call object, the canonical one first. */
  readonly nameKeys: readonly string[];
  readonly argsKeys: readonly string[];
  /** Keys a call object may carry beside its arguments without a word about it. */
  readonly metadataKeys: readonly string[];
  /** Names that stand for "a call follows in the arguments" unless a tool really has that name. */
  readonly wrapperNames: readonly string[];
  /** Where a leaked chat-template token begins inside a name. */
  readonly nameCut: string | undefined;
  /** Tag names of reasoning, lower case; matched in any case. */
  readonly reasoningTags: readonly string[];
  /** Beginnings of calls written in another dialect: tags, which stand anywhere (sticky), and words that begin a reply. */
  readonly otherTags: RegExp | undefined;
  readonly otherWords: readonly string[];
  readonly allows: {
    readonly severalObjects: boolean;
    readonly openerClosesBlock: boolean;
    readonly bareCall: boolean;
    /** A `json` block is a call whatever it holds; otherwise only if it is a call of a registered tool. */
    readonly anyJsonBlock: boolean;
    /** Keys beside `name` and `args` are dropped without a word. */
    readonly unknownKeys: boolean;
  };
  /** Whether fences of other languages are followed, so that what they quote is not run. */
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
    allows: {
      severalObjects: false,
      openerClosesBlock: false,
      bareCall: false,
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
    allows: {
      severalObjects: true,
      openerClosesBlock: true,
      bareCall: true,
      anyJsonBlock: false,
      unknownKeys: false,
    },
    tracksForeignFences: true,
  },
};
