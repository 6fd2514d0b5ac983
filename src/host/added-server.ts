// What `tutti models add` hands to the machine, and what it gets back.

export interface AddServerOptions {
  readonly url: string;
  /** The name of the provider; by the address when absent. */
  readonly name?: string | undefined;
  /** The model that is the default from now on. */
  readonly model?: string | undefined;
  /** The first of its models becomes the default. */
  readonly makeDefault: boolean;
  /** The variable that holds the key, and its value. */
  readonly keyEnv?: string | undefined;
  readonly key?: string | undefined;
  /** Does not ask the server. */
  readonly offline: boolean;
  readonly dryRun: boolean;
  readonly timeoutMs: number;
}

export interface AddedServer {
  readonly name: string;
  readonly base_url: string;
  readonly models: readonly string[];
  /** What is the default from now on; null when that does not change. */
  readonly default: string | null;
  /** The part of a config that sets the server up. */
  readonly added: unknown;
  /** The user's own config. */
  readonly file: string;
  /** `yours`: it is not rewritten, and `added` is for the person to add. */
  readonly state: "written" | "kept" | "yours";
  readonly why: string;
}
