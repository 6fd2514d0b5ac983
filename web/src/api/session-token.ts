// The token of this browser tab: it lives in sessionStorage, is sent as a header and never as a cookie, and is gone with the tab.

const name = "tutti.token";

export function keptToken(): string | undefined {
  return sessionStorage.getItem(name) ?? undefined;
}

export function keepToken(token: string): void {
  sessionStorage.setItem(name, token);
}

export function dropToken(): void {
  sessionStorage.removeItem(name);
}

/** The one-time code in the fragment, which browsers send to no server. It is removed, so that no copy of the address has it. */
export function takeCode(): string | undefined {
  const found = /^#code=([\w.-]{1,128})$/.exec(location.hash)?.[1];
  if (found !== undefined) history.replaceState(null, "", location.pathname + location.search);
  return found;
}
