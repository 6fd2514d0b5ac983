// Shows another node that this is the node that it looks for, before that one sends anything of a caller.

import type { IncomingMessage, ServerResponse } from "node:http";

import { toTuttiError } from "../../protocol/error.ts";
import { proofHeader, proofPath } from "../cluster/node-proof.ts";
import { nodeTokenHeader } from "../cluster/node-token.ts";
import type { SharedByNodes } from "../state/kept-records.ts";
import type { HttpError } from "./http-error.ts";
import { securityHeaders } from "./security-headers.ts";

type ProofSource = Pick<SharedByNodes, "checkToken" | "prove">;

export function sendProof(
  { checkToken, prove }: ProofSource,
  { headers, method = "", url = "" }: Pick<IncomingMessage, "headers" | "method" | "url">,
  response: ServerResponse,
): HttpError | undefined {
  const token = headers[nodeTokenHeader];
  try {
    checkToken(typeof token === "string" ? token : undefined, { method, path: url });
    response.writeHead(204, [...securityHeaders, proofHeader, prove(url.slice(proofPath.length + 1))]);
  } catch (thrown) {
    return { cause: toTuttiError(thrown) };
  }
  response.end();
  return undefined;
}
