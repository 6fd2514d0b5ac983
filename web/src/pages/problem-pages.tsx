// What is shown instead of a page: an address that leads nowhere, and an error that a page could not handle.

import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

import { Empty } from "../ui/controls.tsx";

export function NotFoundPage(): ReactNode {
  return (
    <div className="page">
      <Empty title="There is nothing at this address">
        Go to the <Link to="/">home page</Link>, or press <kbd>Ctrl K</kbd> to search.
      </Empty>
    </div>
  );
}

export function ProblemPage({ error }: { readonly error: Error }): ReactNode {
  return (
    <div className="page">
      <Problem error={error} />
    </div>
  );
}

function Problem({ error }: { readonly error: Error }): ReactNode {
  return (
    <div className="empty" role="alert">
      <strong>This could not be shown</strong>
      <p className="small wrap">{error.message}</p>
      <button type="button" className="button" onClick={() => location.reload()}>
        Load the page again
      </button>
    </div>
  );
}

/** The state of a read that has not succeeded: what went wrong, or that it is on its way. */
export function Pending({ error }: { readonly error: Error | null }): ReactNode {
  return error === null ? (
    <p className="empty" aria-busy="true">
      Loading…
    </p>
  ) : (
    <Problem error={error} />
  );
}
