// The keys that work on every page, except while somebody types.

import { useEffect, useRef } from "react";

export const pageKeys = {
  h: { to: "/", title: "Home" },
  b: { to: "/board", title: "Board" },
  f: { to: "/fleet", title: "Fleet" },
  t: { to: "/threads", title: "Threads" },
  p: { to: "/policy", title: "Policy" },
  s: { to: "/settings", title: "Settings" },
  "?": { to: "/shortcuts", title: "Shortcuts" },
} as const;

export type PageKey = keyof typeof pageKeys;

function isPageKey(key: string): key is PageKey {
  return Object.hasOwn(pageKeys, key);
}

/** How long `g` waits for the second key. */
const chordMs = 1_200;

export function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}

export function usePageKeys(onKey: (key: PageKey | "palette") => void): void {
  const latest = useRef(onKey);
  latest.current = onKey;
  useEffect(() => {
    let chordUntil = 0;
    const listen = (event: KeyboardEvent): void => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        latest.current("palette");
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      if (document.querySelector("dialog[open]") !== null) return;
      if (event.key === "/") {
        event.preventDefault();
        latest.current("palette");
      } else if (event.key === "?") {
        latest.current("?");
      } else if (event.key === "g") {
        chordUntil = Date.now() + chordMs;
      } else if (Date.now() < chordUntil && isPageKey(event.key)) {
        chordUntil = 0;
        event.preventDefault();
        latest.current(event.key);
      }
    };
    window.addEventListener("keydown", listen);
    return () => window.removeEventListener("keydown", listen);
  }, []);
}
