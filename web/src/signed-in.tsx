// Decides whether the pages or the sign-in page is shown, and gives the pages their connection.

import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { type ReactNode, useEffect, useMemo, useState } from "react";

import { service, TuttiError } from "../../src/client/index.ts";
import { connect, ConnectionContext } from "./api/connection.tsx";
import { dropToken, keepToken, keptToken, takeCode } from "./api/session-token.ts";
import { SignInPage } from "./pages/sign-in.tsx";
import { makeRouter } from "./routes.tsx";

type Access =
  | { readonly kind: "exchanging" }
  | { readonly kind: "in"; readonly token: string }
  | { readonly kind: "out"; readonly reason?: string };

/** Taken once, before anything is drawn: a code is good for one exchange. */
const code = takeCode();

async function exchange(given: string): Promise<Access> {
  const { call } = service({ url: location.origin, bearer: () => "" });
  try {
    const { token } = await call("signIn", { body: { code: given } });
    keepToken(token);
    return { kind: "in", token };
  } catch (thrown) {
    const known = keptToken();
    if (known !== undefined) return { kind: "in", token: known };
    const reason =
      thrown instanceof TuttiError && thrown.code === "unauthorized"
        ? "This link was used already, or it is older than a minute."
        : thrown instanceof Error
          ? thrown.message
          : String(thrown);
    return { kind: "out", reason };
  }
}

const exchanged = code === undefined ? undefined : exchange(code);

function first(): Access {
  if (exchanged !== undefined) return { kind: "exchanging" };
  const token = keptToken();
  return token === undefined ? { kind: "out" } : { kind: "in", token };
}

export function SignedIn(): ReactNode {
  const [access, setAccess] = useState<Access>(first);
  useEffect(() => {
    void exchanged?.then(setAccess);
  }, []);
  if (access.kind === "exchanging") return <p className="empty">Signing in…</p>;
  const signIn = (token: string): void => {
    keepToken(token);
    setAccess({ kind: "in", token });
  };
  if (access.kind === "out") return <SignInPage reason={access.reason} onToken={signIn} />;
  const signOut = (reason?: string): void => {
    dropToken();
    setAccess(reason === undefined ? { kind: "out" } : { kind: "out", reason });
  };
  return <Connected key={access.token} token={access.token} onSignedOut={signOut} />;
}

function Connected({
  token,
  onSignedOut,
}: {
  readonly token: string;
  readonly onSignedOut: (reason?: string) => void;
}): ReactNode {
  const connection = useMemo(() => connect(token), [token]);
  const router = useMemo(() => makeRouter(onSignedOut), [onSignedOut]);
  useEffect(
    () =>
      connection.feed.watchState(() => {
        const { state } = connection.feed;
        if (state.kind === "signed_out")
          onSignedOut("This sign-in is no longer good: its key was revoked, or its time is over.");
      }),
    [connection, onSignedOut],
  );
  return (
    <ConnectionContext value={connection}>
      <QueryClientProvider client={connection.queries}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </ConnectionContext>
  );
}
