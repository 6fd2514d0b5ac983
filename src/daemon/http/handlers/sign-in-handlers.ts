// Signs pages in and out, and tells a caller who it is.

import type { KeyHolder } from "../../state/api-keys.ts";
import type { HttpContext } from "../context.ts";
import type { Handlers } from "../handler.ts";
import { httpError } from "../http-error.ts";

type SignInRoute = "makeSignInCode" | "signIn" | "signOut" | "me";

const wrongCode = httpError(
  "unauthorized",
  "this code is unknown, was used already, or is older than a minute; `tutti open` makes a new one",
);
const onlyKeys = httpError("refused", "a page cannot sign another one in; use a key, as `tutti open` does");
const noKey = httpError("unauthorized", "send the header `Authorization: Bearer <key>`");

export function signInHandlers({ state: { pages } }: HttpContext): Pick<Handlers, SignInRoute> {
  return {
    async makeSignInCode({ caller }) {
      if (caller.kind !== "key") return { error: noKey };
      // A page that could sign others in would outlive its own token.
      return caller.page === undefined ? { value: await pages.makeCode(caller.id) } : { error: onlyKeys };
    },
    async signIn({ body }) {
      const signedIn = await pages.exchange(body.code);
      if (signedIn === undefined) return { error: wrongCode, unknownSecret: true };
      const { token, until, holder } = signedIn;
      return { value: { token, expires_at: until, key: keyOf(holder) } };
    },
    async signOut({ caller }) {
      if (caller.kind === "key" && caller.page !== undefined) await pages.end(caller.page.digest);
      return { done: true };
    },
    me({ caller }) {
      if (caller.kind !== "key") return { error: noKey };
      return { value: { key: keyOf(caller), until: caller.page?.until ?? null } };
    },
  };
}

function keyOf({ id, name, role }: KeyHolder): Pick<KeyHolder, "id" | "name" | "role"> {
  return { id, name, role };
}
