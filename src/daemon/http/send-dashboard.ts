// Sends the dashboard to a browser: the page at every path outside of the API, and its files, with a strict policy.

import type { IncomingMessage, ServerResponse } from "node:http";

import type { DashboardFile, DashboardFiles } from "./dashboard-files.ts";
import { wantsHtml } from "./html-page.ts";
import { headersWithPolicy } from "./security-headers.ts";

/** Scripts, styles and requests of this origin alone: nothing inline, no form, no frame around it, no other server. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** Where the API is. At every other path the page decides what it shows. */
function isApiPath(path: string): boolean {
  return path.startsWith("/v1/") || path === "/v1" || servicePaths.has(path);
}

const servicePaths: ReadonlySet<string> = new Set(["/healthz", "/readyz", "/openapi.json"]);

/** Whether a browser asks for a page at a path where neither the API nor a file is. */
export function asksForPage(request: IncomingMessage, path: string): boolean {
  return !isApiPath(path) && !path.startsWith("/assets/") && wantsHtml(request);
}

/** Returns false when there is nothing to send: no dashboard was built, or it has no such file. */
export async function sendDashboard(
  files: DashboardFiles,
  { request, response, path }: { request: IncomingMessage; response: ServerResponse; path: string },
): Promise<boolean> {
  if (isApiPath(path) || (request.method !== "GET" && request.method !== "HEAD")) return false;
  const file = (await files.file(path)) ?? (asksForPage(request, path) ? await files.page() : undefined);
  if (file === undefined) return false;
  sendFile(file, request, response);
  return true;
}

function sendFile(file: DashboardFile, request: IncomingMessage, response: ServerResponse): void {
  const caching = file.immutable ? "public, max-age=31536000, immutable" : "no-cache";
  const headers = [
    ...headersWithPolicy(policy, caching),
    "Cross-Origin-Opener-Policy",
    "same-origin",
    "ETag",
    file.etag,
    "Vary",
    "Accept, Accept-Encoding, Origin",
  ];
  if (namesTag(request.headers["if-none-match"], file.etag)) {
    response.writeHead(304, headers);
    response.end();
    return;
  }
  const zipped = acceptsGzip(request);
  const body = zipped ? file.gzipped : file.body;
  response.writeHead(200, [
    ...headers,
    "Content-Type",
    file.type,
    "Content-Length",
    String(body.length),
    ...(zipped ? ["Content-Encoding", "gzip"] : []),
  ]);
  response.end(body);
}

function namesTag(header: string | undefined, etag: string): boolean {
  return header !== undefined && header.split(",").some((each) => each.trim().replace(/^W\//, "") === etag);
}

function acceptsGzip({ headers }: IncomingMessage): boolean {
  return /(?:^|,)\s*gzip\s*(?:,|$|;\s*q=(?:1|0\.\d*[1-9]))/.test(String(headers["accept-encoding"] ?? ""));
}
