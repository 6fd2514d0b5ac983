// Opens the HTTP API of a state folder for whichever process works on it, a daemon or a command.

import { openApiDocument } from "../../protocol/api/openapi-document.ts";
import type { RouteName } from "../../protocol/api/routes.ts";
import { TuttiError } from "../../protocol/error.ts";
import { builtinRunners } from "../../protocol/invocation/runner-kinds.ts";
import type { HttpLog } from "../http/context.ts";
import { type RunningHttp, startHttp } from "../http/start-http.ts";
import type { State } from "../state/state.ts";
import { webFolder } from "../web-folder.ts";
import type { AcceptedListening } from "./listen-rules.ts";
import { addressForNodes, reachableHosts } from "./reachable-hosts.ts";
import type { TlsFiles } from "./tls-files.ts";

export interface ListenAt extends AcceptedListening {
  readonly tls: TlsFiles | undefined;
  /** The address at which others reach the service, when it is not the one it listens on. */
  readonly publicUrl: URL | undefined;
  /** Where other nodes reach this one, when it is not the address it listens on. */
  readonly advertise?: string | undefined;
  readonly maxConnections?: number | undefined;
  /** How many requests and streams one key may have in flight. */
  readonly maxRequests?: number | undefined;
}

export interface Service {
  readonly state: State;
  /** Where relative paths of requests begin that name no folder. */
  readonly from: string;
  readonly log: HttpLog;
  readonly notReady: () => TuttiError | undefined;
  readonly onShutdown: (graceMs: number | undefined) => void;
  /** Told of each request that was carried out and did more than look. */
  readonly onDone?: (route: RouteName) => void;
}

/** The setting that holds the last port, so that operators, workers and commands that come back find the next process there. */
const portSetting = "port";

export function lastPortOf({ own }: State): number | undefined {
  const port = Number(own.setting(portSetting) ?? 0);
  return port > 0 ? port : undefined;
}

/** Listens on the first of the ports that is free. */
export async function listenForRequests(at: ListenAt, service: Service): Promise<RunningHttp> {
  const { state, log, from, notReady, onShutdown, onDone } = service;
  const { host, loopback, ports, tls, publicUrl, maxConnections, maxRequests } = at;
  const [port = 0, ...otherPorts] = ports;
  let http: RunningHttp;
  try {
    http = await startHttp({
      state,
      log,
      from,
      host,
      port,
      ...(tls === undefined ? {} : { tls }),
      ...(maxConnections === undefined ? {} : { maxConnections }),
      allowedHosts: [
        ...(loopback ? [] : reachableHosts(host, tls?.cert)),
        ...(publicUrl === undefined ? [] : [publicUrl.host]),
        ...(at.advertise === undefined ? [] : [new URL(at.advertise).host]),
      ],
      // Behind a proxy, our own pages are served from the public URL.
      allowedOrigins: publicUrl === undefined ? [] : [publicUrl.origin],
      ...(maxRequests === undefined ? {} : { inFlight: { requests: maxRequests } }),
      web: webFolder,
      openapi: openApiDocument,
      runners: builtinRunners.map((runner) => ({ ...runner, of: "builtin" as const })),
      // Loaded only when it is needed: running tasks does not take a reader of agent definitions.
      project: async (folder) =>
        (await import("../project/open-project.ts")).openProject(folder, { state: state.folder }),
      policy: async (folder) => {
        const [{ openProject }, { policyInForce }] = await Promise.all([
          import("../project/open-project.ts"),
          import("../project/policy-in-force.ts"),
        ]);
        return policyInForce(openProject(folder, { state: state.folder }));
      },
      models: async (options) => (await import("../project/open-project.ts")).userModels(state.folder, options),
      starting: () =>
        state.isStarting() ? new TuttiError("busy", "the service is starting; ask again soon") : state.unavailable(),
      notReady,
      onShutdown,
      ...(onDone === undefined ? {} : { onDone }),
    });
  } catch (thrown) {
    if (!(thrown instanceof TuttiError) || thrown.code !== "busy" || otherPorts.length === 0) throw thrown;
    log.info({ port }, "the port is in use; trying another");
    return listenForRequests({ ...at, ports: otherPorts }, service);
  }
  state.listening(publicUrl?.origin ?? http.url);
  state.own.putSetting(portSetting, String(http.port));
  const url = at.advertise ?? addressForNodes(at.host, http.url);
  await state.shared?.announce({ url, certificate: tls?.cert ?? null });
  return http;
}
