// The secrets of a cluster that are given in the environment: taken out of it at once, so that no process which is started later has them.

/** Undefined for what was not given. */
export interface ClusterEnvironment {
  readonly databaseUrl: string | undefined;
  readonly clusterKey: string | undefined;
}

const databaseVariable = "TUTTI_DATABASE";
export const clusterKeyVariable = "TUTTI_CLUSTER_KEY";

let taken: ClusterEnvironment = { databaseUrl: undefined, clusterKey: undefined };

/** Agents, checks, git and editors inherit the environment of this process, whole or in part: these two are gone from it. */
export function clusterEnvironment(): ClusterEnvironment {
  taken = {
    databaseUrl: take(databaseVariable) ?? taken.databaseUrl,
    clusterKey: take(clusterKeyVariable) ?? taken.clusterKey,
  };
  return taken;
}

/** For the environment of our own daemon. Where its database is stands in its state folder. */
export function clusterVariables(): Record<string, string> {
  const { clusterKey } = clusterEnvironment();
  return clusterKey === undefined ? {} : { [clusterKeyVariable]: clusterKey };
}

function take(name: string): string | undefined {
  const value = process.env[name]?.trim();
  delete process.env[name];
  return value === "" ? undefined : value;
}
