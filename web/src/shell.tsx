// The frame around all pages: navigation, what is wrong with the connection, the command palette and the keys.

import { Link, Outlet, useLocation, useNavigate } from "@tanstack/react-router";
import { type ReactNode, useEffect, useRef, useState } from "react";

import { useFeedState, useConnection } from "./api/connection.tsx";
import { useAsks, useStatus } from "./api/queries.ts";
import { Toasts } from "./api/toasts.tsx";
import { CommandPalette } from "./palette.tsx";
import { Icon, type IconName, Logo } from "./ui/icons.tsx";
import { Dialog, TimeAgo } from "./ui/controls.tsx";
import { pageKeys, usePageKeys } from "./page-keys.ts";

const links: readonly { readonly to: string; readonly title: string; readonly icon: IconName; readonly wide?: true }[] =
  [
    { to: "/", title: "Home", icon: "home" },
    { to: "/board", title: "Board", icon: "board" },
    { to: "/threads", title: "Threads", icon: "chat" },
    { to: "/fleet", title: "Fleet", icon: "fleet" },
    { to: "/policy", title: "Policy", icon: "policy", wide: true },
    { to: "/settings", title: "Settings", icon: "settings", wide: true },
  ];

export function Shell({ onSignOut }: { readonly onSignOut: () => void }): ReactNode {
  const [palette, setPalette] = useState(false);
  const navigate = useNavigate();
  const main = useRef<HTMLElement>(null);
  const { pathname } = useLocation();
  usePageKeys((key) => {
    if (key === "palette") setPalette(true);
    else void navigate({ to: pageKeys[key].to });
  });
  // A new page begins at its top, and a reader of the screen begins there, too.
  useEffect(() => {
    main.current?.scrollTo(0, 0);
  }, [pathname]);
  const { call } = useConnection();
  const signOut = (): void => {
    void call("signOut", {}).catch(() => undefined);
    onSignOut();
  };
  return (
    <div className="frame">
      <a className="skip" href="#main">
        Skip to the page
      </a>
      <Side onPalette={() => setPalette(true)} onSignOut={signOut} />
      <Banner />
      <main className="main" id="main" tabIndex={0} ref={main}>
        <Outlet />
      </main>
      {palette ? <CommandPalette onClose={() => setPalette(false)} /> : null}
      <Toasts />
    </div>
  );
}

function Side({ onPalette, onSignOut }: { readonly onPalette: () => void; readonly onSignOut: () => void }): ReactNode {
  const { pathname } = useLocation();
  const [more, setMore] = useState(false);
  const asks = useAsks().data?.length ?? 0;
  useEffect(() => {
    document.title = asks === 0 ? "Tutti" : `(${asks}) Tutti`;
  }, [asks]);
  return (
    <nav className="side" aria-label="Pages">
      <Link to="/" className="brand">
        <Logo /> Tutti
      </Link>
      {links.map(({ to, title, icon, wide }) => (
        <Link
          key={to}
          to={to}
          className={`nav ${wide === true ? "only-wide" : ""}`}
          {...(isAt(pathname, to) ? { "aria-current": "page" as const } : {})}
        >
          <Icon name={icon} />
          <span>{title}</span>
          {to === "/" && asks > 0 ? (
            <span className="count needs end" aria-label={`${asks} waiting for you`}>
              {asks}
            </span>
          ) : null}
        </Link>
      ))}
      <button type="button" className="nav" onClick={onPalette}>
        <Icon name="search" />
        <span>Search</span>
        <kbd className="end only-wide">Ctrl K</kbd>
      </button>
      <button type="button" className="nav only-narrow" aria-haspopup="dialog" onClick={() => setMore(true)}>
        <Icon name="more" />
        <span>More</span>
      </button>
      {more ? <MoreSheet onClose={() => setMore(false)} onSignOut={onSignOut} /> : null}
      <span className="push" />
      <Link to="/shortcuts" className="nav only-wide">
        <Icon name="keys" />
        <span>Shortcuts</span>
      </Link>
      <button type="button" className="nav only-wide" onClick={onSignOut}>
        <Icon name="out" />
        <span>Sign out</span>
      </button>
    </nav>
  );
}

/** On a phone: what has no room in the bar at the bottom. */
function MoreSheet({
  onClose,
  onSignOut,
}: {
  readonly onClose: () => void;
  readonly onSignOut: () => void;
}): ReactNode {
  const { pathname } = useLocation();
  const pages = [...links.filter(({ wide }) => wide), { to: "/shortcuts", title: "Shortcuts", icon: "keys" } as const];
  return (
    <Dialog title="More" onClose={onClose}>
      <div className="more">
        {pages.map(({ to, title, icon }) => (
          <Link
            key={to}
            to={to}
            className="nav"
            onClick={onClose}
            {...(isAt(pathname, to) ? { "aria-current": "page" as const } : {})}
          >
            <Icon name={icon} />
            <span>{title}</span>
          </Link>
        ))}
        <button type="button" className="nav" onClick={onSignOut}>
          <Icon name="out" />
          <span>Sign out</span>
        </button>
      </div>
    </Dialog>
  );
}

function isAt(pathname: string, to: string): boolean {
  if (to === "/") return pathname === "/" || pathname.startsWith("/goals") || pathname.startsWith("/tasks");
  return pathname === to || pathname.startsWith(`${to}/`);
}

function Banner(): ReactNode {
  const state = useFeedState();
  const status = useStatus().data;
  const { feed, tutti, queries } = useConnection();
  if (state.kind === "offline") {
    return (
      <div className="banner bad" role="alert">
        <strong>Offline.</strong>
        <span className="grow clip">
          Tutti does not answer since <TimeAgo at={state.since} />. What you see may be old; it goes on by itself.
        </span>
        <button type="button" className="button tight" onClick={feed.retryNow}>
          Try now
        </button>
      </div>
    );
  }
  if (status?.degraded !== null && status?.degraded !== undefined) {
    return (
      <div className="banner bad" role="alert">
        <strong>No new work is taken.</strong>
        <span className="grow">{status.degraded.message}</span>
      </div>
    );
  }
  if (status?.paused !== true) return null;
  const resume = async (): Promise<void> => {
    await tutti.resume();
    await queries.invalidateQueries({ queryKey: ["status"] });
  };
  return (
    <div className="banner warn" role="status">
      <strong>Paused.</strong>
      <span className="grow">No new work begins until it is resumed.</span>
      <button type="button" className="button tight" onClick={() => void resume()}>
        Resume
      </button>
    </div>
  );
}
