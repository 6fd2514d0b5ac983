// Work that a dialog begins. What goes wrong is said in the dialog, since messages at the edge of the page are behind it.

import { type ReactNode, useState } from "react";

import { Words } from "./outside-text.tsx";

interface DialogWork {
  readonly busy: boolean;
  /** What went wrong the last time, to be shown; null while nothing did. */
  readonly problem: ReactNode;
  /** Undefined when it could not be done. */
  readonly run: <T>(work: () => Promise<T>) => Promise<{ readonly value: T } | undefined>;
}

export function useDialogWork(): DialogWork {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState("");
  return {
    busy,
    problem:
      problem === "" ? null : (
        <p className="small bad wrap" role="alert">
          <Words text={problem} />
        </p>
      ),
    async run(work) {
      setBusy(true);
      setProblem("");
      try {
        return { value: await work() };
      } catch (thrown) {
        setProblem(thrown instanceof Error ? thrown.message : String(thrown));
        return undefined;
      } finally {
        setBusy(false);
      }
    },
  };
}
