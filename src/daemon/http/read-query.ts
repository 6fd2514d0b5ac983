// Reads the query of a request strictly: each name once, well encoded, and no secrets in it.

import { type Refused, refuse } from "./refused.ts";

export type QueryReading =
  | { readonly ok: true; readonly query: Readonly<Record<string, string>> }
  | { readonly ok: false; readonly refused: Refused };

const none: QueryReading = { ok: true, query: {} };
const maxFields = 64;

/** Names people put keys under, and what our secrets look like; a ticket is made for a URL and works once. */
const secretName = /^(?:access_token|api_?key|authorization|bearer|key|secret|token)$/i;
const secretValue = /^(?:tk_|ot-|wh-|tt1\.)/;

/** `search` is what follows the `?`. */
export function readQuery(search: string): QueryReading {
  if (search === "") return none;
  // Without a prototype no name of a query means anything but itself.
  const query: Record<string, string> = Object.create(null);
  const fields = search.split("&");
  if (fields.length > maxFields) return refused(refuse("too_large", `a query has at most ${maxFields} fields`));
  for (const field of fields) {
    const split = field.indexOf("=");
    const name = decoded(split < 0 ? field : field.slice(0, split));
    const value = decoded(split < 0 ? "" : field.slice(split + 1));
    if (name === undefined || value === undefined || name === "") {
      return refused(refuse("usage", "the query is not `name=value` pairs in percent-encoded UTF-8"));
    }
    if (secretName.test(name) || secretValue.test(value)) {
      const message =
        "keys and tokens do not belong in a URL, where logs keep them; send `Authorization: Bearer <key>`, and revoke the one that was sent";
      return refused(refuse("unauthorized", message));
    }
    if (Object.hasOwn(query, name)) return refused(refuse("usage", `the query says ${name} twice; say it once`));
    query[name] = value;
  }
  return { ok: true, query };
}

function refused(why: Refused): QueryReading {
  return { ok: false, refused: why };
}

function decoded(text: string): string | undefined {
  if (!text.includes("%") && !text.includes("+")) return text;
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return undefined;
  }
}
