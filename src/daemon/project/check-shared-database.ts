// The doctor's checks of a database that nodes share: whether Tutti can work with it, keeps what it acknowledges, and what to do.

import type { GivenDatabase } from "../../host/host.ts";
import type { Finding } from "../../host/project.ts";
import { toTuttiError } from "../../protocol/error.ts";
import { type DatabaseFacts, inspectDatabase } from "../../store/postgres/inspect-database.ts";
import { knownSchema } from "../../store/postgres/schema.ts";
import { clusterEnvironment } from "../cluster/cluster-environment.ts";
import { databaseFor, readNodeSettings } from "../state/node-settings.ts";

const what = "shared database";

/** Older versions get no corrections any more. */
const oldestServer = 140_000;
/** What a node keeps open: one to write, one to listen, one for its lease, and its readers. */
const connectionsOfNode = 12;
const slowCommitMs = 20;
const skewMs = 1_000;
/** A pause of the process or of the network may take so long. */
const shortLeaseMs = 5_000;

/** `given`: instead of the one that the node of this folder works on. No finding when there is none. */
export async function checkSharedDatabase(state: string, given: GivenDatabase | undefined): Promise<Finding[]> {
  const asked = given ?? (clusterEnvironment().databaseUrl === undefined ? undefined : {});
  const address = asked === undefined ? undefined : databaseFor(state, asked);
  try {
    const node = readNodeSettings(state);
    const found = address ?? node?.address;
    if (found === undefined) return [];
    const isOfNode = found.url === node?.address.url && found.schema === node.address.schema;
    return databaseFindings(await inspectDatabase(found), isOfNode ? node.leaseMs : undefined);
  } catch (thrown) {
    const { code, message } = toTuttiError(thrown);
    const todo = "see that it runs, that this machine may reach it, and that user and password are right";
    return [{ what, state: "fail", said: message, todo, code }];
  }
}

/** `leaseMs`: of the node of this folder. */
export function databaseFindings(facts: DatabaseFacts, leaseMs: number | undefined): Finding[] {
  const told = [
    ...serverFindings(facts),
    ...rightFindings(facts),
    ...durabilityFindings(facts),
    ...wayFindings(facts),
    ...speedFindings(facts, leaseMs),
    ...nodeFindings(facts),
  ];
  const { versionText, roundTripMs, commitMs, nodes } = facts;
  const commit = commitMs === undefined ? "" : `, a commit takes ${commitMs.toFixed(1)} ms`;
  const alive = nodes.filter((node) => node.alive).length;
  const said = `PostgreSQL ${versionText}, answers in ${roundTripMs.toFixed(1)} ms${commit}, ${alive === 1 ? "1 node lives" : `${alive} nodes live`}`;
  return [{ what, state: "ok", said }, ...told];
}

const warn = (said: string, todo: string): Finding => ({ what, state: "warn", said, todo });
const fail = (said: string, todo: string, code: Finding["code"] = "conflict"): Finding => ({
  what,
  state: "fail",
  said,
  todo,
  ...(code === undefined ? {} : { code }),
});

function serverFindings({ version, versionText, isCopy, schema }: DatabaseFacts): Finding[] {
  const found: Finding[] = [];
  if (version < oldestServer) found.push(fail(`PostgreSQL ${versionText} is too old`, "use PostgreSQL 14 or newer"));
  if (isCopy) found.push(fail("it is a copy that takes no writes", "give the address of the primary server"));
  const known = knownSchema.migrations.length;
  if (schema === undefined) return found;
  if (schema.oldest > known) {
    found.push(
      fail("its tables were made by a newer Tutti, and this one cannot work with them", "update Tutti", "newer"),
    );
  } else if (schema.version > known) {
    found.push(
      warn("its tables were made by a newer Tutti; this one can still work with them", "update this node, too"),
    );
  } else if (schema.version < known) {
    found.push(
      warn("its tables are of an older Tutti", "nothing to do: the next node of this version brings them up to date"),
    );
  }
  return found;
}

function rightFindings({ canMake, canMakeTemporary, hasSchema }: DatabaseFacts): Finding[] {
  const found: Finding[] = [];
  if (!canMake) {
    const todo = hasSchema
      ? "GRANT CREATE, USAGE ON SCHEMA … TO …"
      : "GRANT CREATE ON DATABASE … TO …, or make the schema";
    found.push(fail("the user may not make tables there", todo, "unauthorized"));
  }
  if (!canMakeTemporary) {
    found.push(
      warn(
        "the user may not make temporary tables, so `tutti export` does not work",
        "GRANT TEMPORARY ON DATABASE … TO …",
      ),
    );
  }
  return found;
}

function durabilityFindings({ settings, copies }: DatabaseFacts): Finding[] {
  const found: Finding[] = [];
  for (const name of ["fsync", "full_page_writes"]) {
    if (settings[name] === "on") continue;
    found.push(fail(`${name} is off: a power loss destroys what was acknowledged`, `set ${name} = on`, "corrupt"));
  }
  if (settings["synchronous_commit"] === "off") {
    const todo =
      "set synchronous_commit = on, at least for the user of Tutti: ALTER ROLE … SET synchronous_commit = on";
    found.push(fail("synchronous_commit is off: a crash loses what was acknowledged", todo, "corrupt"));
  }
  if (copies !== undefined && copies > 0 && settings["synchronous_standby_names"] === "") {
    const said =
      "its copies are behind it: a failover to one of them may lose acknowledged work, which nodes then notice";
    found.push(warn(said, "set synchronous_standby_names"));
  }
  const isolation = settings["default_transaction_isolation"];
  if (isolation !== "read committed") {
    const todo = "ALTER ROLE … SET default_transaction_isolation = 'read committed'";
    found.push(fail(`transactions are ${isolation} by default, and commits of nodes would be refused`, todo));
  }
  return found;
}

function wayFindings({ way, clock }: DatabaseFacts): Finding[] {
  const found: Finding[] = [];
  if (!way.isLocal && !way.isEncrypted) {
    const todo = "add sslmode=verify-full to its address; whoever can write the database owns the nodes";
    found.push(fail("it is reached over the network without TLS", todo, "refused"));
  }
  if (Math.abs(clock.aheadMs) > skewMs + clock.withinMs) {
    const ahead = clock.aheadMs > 0 ? "ahead of" : "behind";
    const said = `its clock is ${(Math.abs(clock.aheadMs) / 1_000).toFixed(1)} s ${ahead} this machine's: deadlines and times of tasks differ between nodes`;
    found.push(warn(said, "let all machines follow one time server, such as with chrony"));
  }
  return found;
}

function speedFindings(
  { commitMs, connections, nodes, roundTripMs }: DatabaseFacts,
  leaseMs: number | undefined,
): Finding[] {
  const found: Finding[] = [];
  if (commitMs !== undefined && commitMs > slowCommitMs) {
    const said = `a commit takes ${commitMs.toFixed(0)} ms, and each step that may not be repeated waits for one`;
    found.push(warn(said, "bring nodes and database closer together, or give it a faster disk"));
  }
  const free = connections.most - connections.used;
  if (free < connectionsOfNode) {
    const needed = connectionsOfNode * (nodes.filter((node) => node.alive).length + 1);
    const said = `${free} of ${connections.most} connections are free, and a node needs ${connectionsOfNode}`;
    found.push(warn(said, `set max_connections to ${needed + 20} or more`));
  }
  if (leaseMs !== undefined && leaseMs < Math.max(shortLeaseMs, 20 * roundTripMs)) {
    const said = `the lease of this node is ${leaseMs / 1_000} s: a short pause of the process or the network counts as its death`;
    found.push(warn(said, "start it with --lease 15"));
  }
  return found;
}

function nodeFindings({ nodes, treesWithoutNode }: DatabaseFacts): Finding[] {
  const found: Finding[] = [];
  const lost = nodes.filter((node) => !node.alive).map(({ name }) => name);
  if (lost.length > 0) {
    const todo = "start it again, or nothing: others do its work, and after seven days it is not named any more";
    found.push(warn(`lost: ${lost.join(", ")}`, todo));
  }
  const alive = nodes.filter((node) => node.alive);
  if (treesWithoutNode > 0) {
    const todo = alive.length === 0 ? "start a node with `tutti up`" : "`tutti status` says why trees are parked";
    found.push(warn(`${treesWithoutNode} unfinished trees have no node`, todo));
  }
  const versions = [...new Set(alive.map(({ version }) => version))];
  if (versions.length > 1) {
    found.push(
      warn(`nodes of several versions are there: ${versions.join(", ")}`, "bring all of them to the newest one"),
    );
  }
  return found;
}
