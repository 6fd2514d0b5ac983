// The doctor's check of the sandbox: whether programs that agents run can be confined.

import type { Finding } from "../../host/project.ts";
import { probeSandbox } from "../../runner/shared/sandbox/sandbox-status.ts";

export async function checkSandbox(): Promise<Finding> {
  const what = process.platform === "darwin" ? "sandbox-exec" : "bubblewrap";
  const status = await probeSandbox();
  if (status.confined && status.by === "bubblewrap" && !status.deniesNamespaces) {
    const said = `${status.version}, programs are confined, but can make user namespaces of their own`;
    const todo = "install bubblewrap 0.8 or newer; in a container, /proc/sys must be writable too";
    return { what, state: "warn", said, todo };
  }
  if (status.confined) return { what, state: "ok", said: `${status.version}, programs are confined` };
  return { what, state: "warn", said: status.reason, todo: status.advice };
}
