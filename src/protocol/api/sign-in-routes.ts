// The routes of signing in: how a page in a browser gets rights without ever seeing a key.

import { z } from "zod";
import { Time } from "../ids.ts";
import { jsonBody, jsonReply, route } from "./route-shape.ts";
import { KeyView } from "./service.ts";

const KeyOfPage = KeyView.pick({ id: true, name: true, role: true });

/** Good for one sign-in within a minute. */
export const SignInCode = z.strictObject({ code: z.string(), expires_at: Time });
export type SignInCode = z.infer<typeof SignInCode>;

/** The token is shown this once. It has the rights of the key, and ends with the key or at `expires_at`. */
const SignedIn = z.strictObject({ token: z.string(), expires_at: Time, key: KeyOfPage });

const Me = z.strictObject({
  key: KeyOfPage,
  /** When the token of a page ends; null for a caller that sent the key itself. */
  until: Time.nullable(),
});

export const signInRoutes = {
  makeSignInCode: route({
    method: "POST",
    path: "/v1/sign-in/codes",
    tag: "keys",
    about: "Make a code with which a page in a browser signs in as the holder of this key; it works once, for a minute",
    access: "viewer",
    reply: { type: "json", status: 201, schema: SignInCode },
  }),
  signIn: route({
    method: "POST",
    path: "/v1/sign-in",
    tag: "keys",
    about: "Exchange a code for a token, which is sent as a key is and ends with the key that the code came from",
    access: "public",
    body: jsonBody(z.strictObject({ code: z.string().min(1).max(128) })),
    reply: { type: "json", status: 201, schema: SignedIn },
    refuses: [401, 429],
  }),
  signOut: route({
    method: "DELETE",
    path: "/v1/sign-in",
    tag: "keys",
    about: "End the token that is sent with this request; a key stays as it is",
    access: "viewer",
    reply: { type: "empty", status: 204 },
  }),
  me: route({
    method: "GET",
    path: "/v1/me",
    tag: "keys",
    about: "Whose key or token this is, and what it may do",
    access: "viewer",
    reply: jsonReply(Me),
  }),
};
