// What a browser is shown without the dashboard: a page that says what listens here, and errors in words. Static, without scripts or secrets.

import { createHash } from "node:crypto";
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";

import { version } from "../version.ts";
import { headersWithPolicy } from "./security-headers.ts";

const style = `:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 42rem; margin: 3rem auto; padding: 0 1rem; }
code, pre { font: 0.9rem/1.5 ui-monospace, monospace; }
pre { overflow-x: auto; padding: 0.75rem 1rem; border: 1px solid; border-radius: 0.4rem; }`;

/** Allows this style sheet and nothing else: no script, no image, no form, no frame, no other server. */
const policy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** A browser that opens an address asks for HTML by name; programs ask for JSON, or for anything. */
export function wantsHtml({ method, headers: { accept = "" } }: Pick<IncomingMessage, "method" | "headers">): boolean {
  return (
    (method === "GET" || method === "HEAD") && /\btext\/html\b/i.test(accept) && !/json|event-stream/i.test(accept)
  );
}

/** The page at `/` where no dashboard was built. Nobody has to be known for it, so it tells nothing but the version. */
export function sendFrontPage(response: ServerResponse, { starting }: { readonly starting: boolean }): void {
  const body = `<h1>Tutti</h1>
<p>This is the daemon of Tutti, version ${escapeHtml(version)}. It is ${starting ? "starting" : "up"}.</p>
<p>Its dashboard is not here: in a clone of Tutti, <code>npm run build:web</code> builds it.
Until then use the command line, on this machine:</p>
<pre>tutti status          what the daemon does
tutti tasks           the tasks, newest first
tutti asks            the questions that wait for an answer
tutti --help          everything else</pre>
<p>Programs use the API under <code>/v1</code>, with an API key from <code>tutti keys add</code>.
<a href="/openapi.json">/openapi.json</a> describes every route; docs/daemon.md of Tutti explains them.</p>
<pre>curl -H "authorization: Bearer $KEY" …/v1/status</pre>`;
  send(response, { status: 200, title: "Tutti", body });
}

export interface HtmlError {
  readonly status: number;
  readonly message: string;
  /** Names and values alternate. */
  readonly headers: readonly string[];
}

export function sendErrorPage(response: ServerResponse, { status, message, headers }: HtmlError): void {
  const title = `${status} ${STATUS_CODES[status] ?? ""}`.trim();
  const body = `<h1>${escapeHtml(title)}</h1>
<p>${escapeHtml(message)}</p>
<p><a href="/">What is this?</a></p>`;
  send(response, { status, title: `${title}: Tutti`, body }, headers);
}

interface Page {
  readonly status: number;
  readonly title: string;
  readonly body: string;
}

function send(response: ServerResponse, { status, title, body }: Page, headers: readonly string[] = []): void {
  const html = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escapeHtml(title)}</title>
<style>${style}</style>
${body}
</html>
`;
  response.writeHead(status, [
    ...headersWithPolicy(policy),
    "Content-Type",
    "text/html; charset=utf-8",
    "Content-Length",
    String(Buffer.byteLength(html)),
    "Vary",
    "Accept, Origin",
    ...headers,
  ]);
  response.end(html);
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? "");
}
