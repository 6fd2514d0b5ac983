// How a page in a browser gets the rights of a key: a code that works once within a minute, and the token that it is exchanged for.

import { randomBytes, randomUUID } from "node:crypto";

import type { Clock } from "../../ports.ts";
import type { SignInCode } from "../../protocol/api/sign-in-routes.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { ServiceRecords } from "../../store/service-records.ts";
import { secretDigest } from "../secrets/secret-digest.ts";
import type { KeyHolder, Keys } from "./api-keys.ts";

export interface PageTokensOptions {
  readonly records: Pick<
    ServiceRecords,
    | "ticket"
    | "addTicket"
    | "claimTicket"
    | "trimTickets"
    | "pageToken"
    | "addPageToken"
    | "dropPageToken"
    | "trimPageTokens"
  >;
  /** Resolves when everything queued so far is on disk. */
  readonly committed: () => Promise<void>;
  readonly keys: Pick<Keys, "holder">;
  readonly clock: Pick<Clock, "now">;
  /** Brings in what other nodes changed of shared records; absent where there is one process. */
  readonly catchUp?: () => Promise<void>;
}

/** The token of a page, by its digest, and when it ends. */
export interface PageRight {
  readonly digest: string;
  readonly until: number;
}

export interface SignedInPage extends PageRight {
  readonly token: string;
  readonly holder: KeyHolder;
}

const codeMs = 60_000;
const tokenMs = 7 * 24 * 60 * 60 * 1000;
/** In place of an operator session in the table of tickets; no session has such a name. */
const codeOwner = "sign-in";
const maxTickets = 1024;
/** Of one key. Beyond it, the oldest tokens of that key end. */
const maxTokens = 32;
/** How many codes one key may make within the life of a code. */
const maxCodes = 20;
const prefix = "tw_";

export class PageTokens {
  readonly #options: PageTokensOptions;
  /** When each key made its latest codes. */
  readonly #made = new Map<string, number[]>();
  readonly #onEnded = new Set<(digest: string) => void>();

  constructor(options: PageTokensOptions) {
    this.#options = options;
  }

  /** A code for the holder of this key. Throws `slow_down` when the key has just made many. */
  async makeCode(key: string): Promise<SignInCode> {
    const { records, committed, clock } = this.#options;
    const now = clock.now();
    this.#count(key, now);
    const code = `tc_${randomBytes(32).toString("base64url")}`;
    const expires_at = now + codeMs;
    records.trimTickets({ expiredBefore: now, keep: maxTickets - 1 });
    records.addTicket({ digest: secretDigest(code), sid: codeOwner, expires_at, api_key: key });
    await committed();
    return { code, expires_at };
  }

  /** Undefined for a code that is unknown, used or too old, or whose key was revoked. Of several callers, one gets the token. */
  async exchange(code: string): Promise<SignedInPage | undefined> {
    const { records, committed, keys, clock } = this.#options;
    const digest = secretDigest(code);
    // It may have been made at another node just now.
    if (records.ticket(digest) === undefined) await this.#options.catchUp?.();
    const found = records.ticket(digest);
    if (found === undefined || found.sid !== codeOwner || found.claim !== null) return undefined;
    const claim = randomUUID();
    records.claimTicket(digest, claim);
    await committed();
    const now = clock.now();
    if (records.ticket(digest)?.claim !== claim || now >= found.expires_at) return undefined;
    const token = `${prefix}${randomBytes(32).toString("base64url")}`;
    const made = { digest: secretDigest(token), until: now + tokenMs };
    records.trimPageTokens({ expiredBefore: now, apiKey: found.api_key, keep: maxTokens - 1 });
    records.addPageToken({
      digest: made.digest,
      api_key: found.api_key,
      created_at: now,
      expires_at: made.until,
    });
    await committed();
    // The key may have been revoked meanwhile; then nothing was added.
    const holder = keys.holder(found.api_key);
    return holder === undefined || records.pageToken(made.digest) === undefined
      ? undefined
      : { ...made, token, holder };
  }

  /** Who the page speaks for; undefined for anything that is no token in force. */
  find(token: string): { readonly holder: KeyHolder; readonly page: PageRight } | undefined {
    if (!token.startsWith(prefix)) return undefined;
    const digest = secretDigest(token);
    const row = this.#options.records.pageToken(digest);
    if (row === undefined || this.#options.clock.now() >= row.expires_at) return undefined;
    const holder = this.#options.keys.holder(row.api_key);
    return holder === undefined ? undefined : { holder, page: { digest, until: row.expires_at } };
  }

  /** Whether the token is still in force, which it may not be when a request took long. */
  isInForce({ digest, until }: PageRight): boolean {
    return this.#options.clock.now() < until && this.#options.records.pageToken(digest) !== undefined;
  }

  async end(digest: string): Promise<void> {
    this.#options.records.dropPageToken(digest);
    await this.#options.committed();
    this.ended(digest);
  }

  /** The token is gone, perhaps because its page signed out at another node. */
  ended(digest: string): void {
    for (const listener of this.#onEnded) listener(digest);
  }

  /** Told of each token that its page has ended. */
  onEnded(listener: (digest: string) => void): () => void {
    this.#onEnded.add(listener);
    return () => this.#onEnded.delete(listener);
  }

  #count(key: string, now: number): void {
    const recent = (this.#made.get(key) ?? []).filter((at) => now - at < codeMs);
    if (recent.length >= maxCodes) {
      throw new TuttiError("slow_down", "this key has just made many codes to sign in with; wait a minute");
    }
    this.#made.set(key, [...recent, now]);
  }
}
