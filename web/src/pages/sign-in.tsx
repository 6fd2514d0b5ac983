// The page of somebody who is not signed in: how to open the dashboard, or a key to type.

import { type ReactNode, useState } from "react";

import { service } from "../../../src/client/index.ts";
import { Logo } from "../ui/icons.tsx";

export function SignInPage({
  reason,
  onToken,
}: {
  readonly reason: string | undefined;
  readonly onToken: (token: string) => void;
}): ReactNode {
  const [key, setKey] = useState("");
  const [problem, setProblem] = useState<string>();
  const [busy, setBusy] = useState(false);

  async function check(): Promise<void> {
    setBusy(true);
    setProblem(undefined);
    try {
      await service({ url: location.origin, bearer: () => key.trim() }).call("status", {});
      onToken(key.trim());
    } catch (thrown) {
      setProblem(thrown instanceof Error ? thrown.message : String(thrown));
    } finally {
      setBusy(false);
    }
  }

  return (
    <main className="sign-in">
      <div className="card sign-in-card">
        <div className="brand">
          <Logo /> Tutti
        </div>
        <h1>Sign in</h1>
        {reason === undefined ? null : (
          <p role="alert" className="warn small">
            {reason}
          </p>
        )}
        <p className="soft">On the machine where Tutti runs, this command opens the dashboard, already signed in:</p>
        <code className="command">tutti open</code>
        <hr />
        <form
          className="col"
          onSubmit={(event) => {
            event.preventDefault();
            void check();
          }}
        >
          <label className="field">
            <span>Or paste an access key</span>
            <input
              className="input mono"
              type="password"
              autoComplete="off"
              placeholder="tk_…"
              value={key}
              onChange={(event) => setKey(event.target.value)}
            />
            <small>It is kept in this tab only, and forgotten when the tab is closed.</small>
          </label>
          {problem === undefined ? null : (
            <p role="alert" className="bad small wrap">
              {problem}
            </p>
          )}
          <button type="submit" className="button primary" disabled={busy || key.trim() === ""}>
            Sign in
          </button>
        </form>
      </div>
    </main>
  );
}
