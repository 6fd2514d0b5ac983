// Reads the query of a request strictly: every name once, correctly encoded, and without secrets.

import { type HttpError, httpError } from "./http-error.ts";

export type QueryReading =
  | { readonly ok: true; readonly query: Readonly<Record<string, string>> }
  | { readonly ok: false; readonly error: HttpError };

const empty: QueryReading = { ok: true, query: {} };
const maxFields = 64;

/** Names under which people send keys, and the prefixes of our secrets. A ticket may be in a URL, because it works only once. */
const secretName = /^(?:access_token|api_?key|authorization|bearer|key|secret|token)$/i;
const secretValue = /^(?:tk_|tw_|tc_|ot-|wh-|tt1\.)/;

/** `search` is what follows the `?`. */
export function readQuery(search: string): QueryReading {
  if (search === "") return empty;
  // Without a prototype, names such as `__proto__` are names like any other.
  const query: Record<string, string> = Object.create(null);
  const fields = search.split("&");
  if (fields.length > maxFields) return failed(httpError("too_large", `a query may have at most ${maxFields} fields`));
  for (const field of fields) {
    const split = field.indexOf("=");
    const name = decoded(split < 0 ? field : field.slice(0, split));
    const value = decoded(split < 0 ? "" : field.slice(split + 1));
    if (name === undefined || value === undefined || name === "") {
      return failed(httpError("usage", "the query must be `name=value` pairs in percent-encoded UTF-8"));
    }
    if (secretName.test(name) || secretValue.test(value)) {
      const message =
        "keys and tokens do not belong in a URL, because URLs are logged; send `Authorization: Bearer <key>`, and revoke the key that was sent";
      return failed(httpError("unauthorized", message));
    }
    if (Object.hasOwn(query, name)) return failed(httpError("usage", `the query has ${name} twice; send it once`));
    query[name] = value;
  }
  return { ok: true, query };
}

function failed(error: HttpError): QueryReading {
  return { ok: false, error };
}

function decoded(text: string): string | undefined {
  if (!text.includes("%") && !text.includes("+")) return text;
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return undefined;
  }
}
