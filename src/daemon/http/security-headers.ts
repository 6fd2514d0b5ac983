// The headers that every reply has.

/** Names and values alternate. `policy` says what a page may load, `caching` how long a browser may keep it. */
export function headersWithPolicy(policy: string, caching = "no-store"): string[] {
  return [
    "X-Content-Type-Options",
    "nosniff",
    "Cache-Control",
    caching,
    "Content-Security-Policy",
    policy,
    "Referrer-Policy",
    "no-referrer",
    "Cross-Origin-Resource-Policy",
    "same-origin",
  ];
}

/** For replies that are no pages. Shown as one all the same, they load nothing. */
export const securityHeaders: readonly string[] = headersWithPolicy("default-src 'none'; frame-ancestors 'none'");
