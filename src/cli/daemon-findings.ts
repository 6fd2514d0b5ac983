// What the doctor says of the process that does the work, compared with this shell.
import type { Finding } from "../host/project.ts";
import type { ServiceSetup } from "../protocol/api/service.ts";
import { missingKeys, missingKeyText } from "./missing-keys.ts";

export interface Compared {
  readonly daemon: ServiceSetup;
  readonly here: ServiceSetup;
  readonly url: string;
  /** `--state` as it was given. */
  readonly state: string | undefined;
}

export function daemonFindings({ daemon, here, url, state }: Compared): Finding[] {
  const what = "daemon";
  const restart = "start the daemon again, so that both are the same";
  const differences: Finding[] = [];
  if (daemon.version !== here.version) {
    const said = `it is version ${daemon.version}, this command is ${here.version}`;
    differences.push({ what, state: "warn", said, todo: restart });
  }
  for (const missing of missingKeys(daemon)) {
    differences.push({ what, state: "warn", said: missingKeyText(missing, state) });
  }
  if (daemon.sandbox.confined !== here.sandbox.confined) {
    const said = `programs are ${daemon.sandbox.confined ? "" : "not "}confined there (${daemon.sandbox.said}), but here they would ${here.sandbox.confined ? "" : "not "}be`;
    differences.push({ what, state: "warn", said, todo: restart });
  }
  if (daemon.default_model !== here.default_model) {
    const said = `its default model is ${daemon.default_model}, in this shell it would be ${here.default_model}`;
    differences.push({ what, state: "warn", said });
  }
  return [setupFinding(daemon, url), ...differences];
}

export function setupFinding({ version, node, providers, sandbox, default_model }: ServiceSetup, url: string): Finding {
  const keys = providers.flatMap(({ provider, key_from }) => (key_from === null ? [] : [`${provider} (${key_from})`]));
  const confined = sandbox.confined ? "programs are confined" : "programs are not confined";
  const said = `${url}, version ${version}, node ${node}, default model ${default_model}, keys: ${keys.join(", ") || "none"}, ${confined}`;
  return { what: "daemon", state: "ok", said };
}
