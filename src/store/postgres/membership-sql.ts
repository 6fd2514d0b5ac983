// Which nodes live and which trees each of them owns: joining, leases, burial and takeover, by the clock of the database alone.

import { treeUnit } from "./tree-ids.ts";

/** A lease is renewed in a table of its own, so that a renewal never waits for a commit of the same node. */
export const membershipSql = `
CREATE SEQUENCE incarnations;
-- From the first tree on, ids are longer than 32 bits: a statement that takes one for a short number never works at all.
CREATE SEQUENCE tree_numbers MINVALUE 0 START 2;
CREATE TABLE nodes (
  incarnation bigint PRIMARY KEY DEFAULT nextval('incarnations'), name text NOT NULL, url text NOT NULL,
  labels text[] NOT NULL, version text NOT NULL, alive boolean NOT NULL DEFAULT true, joined_at timestamptz NOT NULL DEFAULT now(),
  last_batch bigint NOT NULL DEFAULT 0, seen_version bigint NOT NULL DEFAULT 0, lease_ms bigint NOT NULL,
  certificate text, died_at timestamptz, machine text
);
CREATE UNIQUE INDEX nodes_alive ON nodes (name) WHERE alive;
CREATE TABLE node_leases (incarnation bigint PRIMARY KEY, until timestamptz NOT NULL);
CREATE TABLE trees (
  root bigint PRIMARY KEY, owner bigint, epoch int NOT NULL DEFAULT 1, open boolean NOT NULL DEFAULT true,
  needs text[] NOT NULL DEFAULT '{}',
  -- A task of it needs a runner that its owner does not have, and what it did may be on the machine of its owner.
  stays boolean NOT NULL DEFAULT false
);
CREATE INDEX trees_open ON trees (owner) WHERE open;

CREATE FUNCTION lease_of(p_ms bigint) RETURNS interval LANGUAGE sql IMMUTABLE AS $$
  SELECT make_interval(secs => p_ms / 1000.0)
$$;

-- A node of the same name takes the place of the one before it, which can write nothing from now on. Its processes may run
-- until its lease ends, unless it was in the same place: there, what it left was ended before this is called.
CREATE FUNCTION join_cluster(p_name text, p_url text, p_labels text[], p_version text, p_lease bigint, p_machine text DEFAULT NULL)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE v_incarnation bigint;
BEGIN
  UPDATE nodes SET alive = false, died_at = clock_timestamp() WHERE name = p_name AND alive;
  DELETE FROM node_leases l USING nodes n
    WHERE n.incarnation = l.incarnation AND n.name = p_name AND NOT n.alive AND n.machine = p_machine;
  -- It reads the shared rows after it has joined, so it needs no change that was made before.
  INSERT INTO nodes (name, url, labels, version, lease_ms, machine, seen_version)
    SELECT p_name, p_url, p_labels, p_version, p_lease, p_machine, s.version FROM shared_version s
    RETURNING incarnation INTO v_incarnation;
  INSERT INTO node_leases VALUES (v_incarnation, now() + lease_of(p_lease));
  RETURN v_incarnation;
END $$;

-- False: the node was buried meanwhile.
CREATE FUNCTION renew_lease(p_incarnation bigint, p_lease bigint) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  UPDATE node_leases l SET until = clock_timestamp() + lease_of(p_lease) FROM nodes n
    WHERE l.incarnation = p_incarnation AND n.incarnation = l.incarnation AND n.alive;
  RETURN FOUND;
END $$;

-- While the database was away nobody could renew a lease, so nobody is buried until it has been up for two leases.
-- A node whose commit is under way is passed over until the next time.
CREATE FUNCTION bury_nodes() RETURNS TABLE (buried bigint) LANGUAGE sql AS $$
  UPDATE nodes SET alive = false, died_at = clock_timestamp() WHERE incarnation IN (
    SELECT n.incarnation FROM nodes n JOIN node_leases l USING (incarnation)
    WHERE n.alive AND l.until < clock_timestamp() AND pg_postmaster_start_time() + 2 * lease_of(n.lease_ms) < clock_timestamp()
    FOR UPDATE OF n SKIP LOCKED)
  RETURNING incarnation
$$;

-- In how many milliseconds the next lease of another node ends, unless it is renewed. Null when there is no other node.
CREATE FUNCTION next_lease_end(p_incarnation bigint) RETURNS bigint LANGUAGE sql AS $$
  SELECT ceil(extract(epoch FROM min(l.until) - clock_timestamp()) * 1000)::bigint
    FROM nodes n JOIN node_leases l USING (incarnation) WHERE n.alive AND n.incarnation <> p_incarnation
$$;

-- How many unfinished trees each living node has, and how many would be its share.
CREATE VIEW node_loads AS
  SELECT n.incarnation, n.labels, count(t.root) AS trees,
      ceil((SELECT count(*) FROM trees WHERE open)::numeric / count(*) OVER ()) AS share
    FROM nodes n LEFT JOIN trees t ON t.owner = n.incarnation AND t.open WHERE n.alive GROUP BY n.incarnation, n.labels;

-- Trees without a living owner, for which the node has what they need: up to its share of all trees, and one more at a
-- time of those that no node with less than its share can take.
CREATE FUNCTION take_trees(p_incarnation bigint, p_most int) RETURNS TABLE (root bigint, epoch int) LANGUAGE plpgsql AS $$
DECLARE v_labels text[]; v_room bigint;
BEGIN
  SELECT labels INTO v_labels FROM nodes WHERE incarnation = p_incarnation AND alive FOR SHARE;
  IF NOT FOUND THEN RETURN; END IF;
  SELECT share - trees INTO v_room FROM node_loads WHERE incarnation = p_incarnation;
  RETURN QUERY
    WITH free AS (
      SELECT t.root FROM trees t
      WHERE t.open AND t.needs <@ v_labels
        AND NOT EXISTS (SELECT 1 FROM nodes n WHERE n.incarnation = t.owner AND n.alive)
        AND NOT EXISTS (SELECT 1 FROM node_leases l WHERE l.incarnation = t.owner AND l.until > clock_timestamp())
        AND (v_room > 0 OR NOT EXISTS (SELECT 1 FROM node_loads o
          WHERE o.incarnation <> p_incarnation AND t.needs <@ o.labels AND o.trees < o.share))
      ORDER BY t.root LIMIT LEAST(GREATEST(1, v_room), p_most) FOR UPDATE SKIP LOCKED)
    UPDATE trees t SET owner = p_incarnation, epoch = t.epoch + 1, stays = false FROM free WHERE t.root = free.root
    RETURNING t.root, t.epoch;
END $$;

-- Trees that the node has beyond its share and that another node has room for. One that has begun something that may not be
-- repeated stays: what it did may be on this machine. A small difference is not worth a move.
CREATE FUNCTION spare_trees(p_incarnation bigint, p_most int) RETURNS TABLE (root bigint) LANGUAGE sql AS $$
  SELECT t.root FROM node_loads own JOIN trees t ON t.owner = own.incarnation AND t.open
    WHERE own.incarnation = p_incarnation AND own.trees > own.share + own.share / 10
      AND NOT EXISTS (SELECT 1 FROM step_starts s WHERE s.run >= t.root - 1 AND s.run < t.root - 1 + ${treeUnit})
      AND EXISTS (SELECT 1 FROM node_loads o WHERE o.incarnation <> p_incarnation AND t.needs <@ o.labels AND o.trees < o.share)
    ORDER BY t.root DESC LIMIT LEAST(p_most,
      (SELECT trees - share FROM node_loads WHERE incarnation = p_incarnation),
      (SELECT sum(GREATEST(0, share - trees)) FROM node_loads WHERE incarnation <> p_incarnation))
$$;

-- A tree that no living node can run.
CREATE FUNCTION take_parked(p_incarnation bigint, p_root bigint) RETURNS TABLE (root bigint) LANGUAGE sql AS $$
  UPDATE trees t SET owner = p_incarnation, epoch = t.epoch + 1
    WHERE t.root = p_root AND t.open
      AND NOT EXISTS (SELECT 1 FROM nodes n WHERE n.alive AND (n.incarnation = t.owner OR t.needs <@ n.labels))
      AND NOT EXISTS (SELECT 1 FROM node_leases l WHERE l.incarnation = t.owner AND l.until > clock_timestamp())
      AND EXISTS (SELECT 1 FROM nodes n WHERE n.incarnation = p_incarnation AND n.alive)
  RETURNING t.root
$$;

-- Every node looks whether it can take what is free now.
CREATE FUNCTION tell_of_free() RETURNS void LANGUAGE sql AS $$
  SELECT pg_notify('tutti_commands_' || current_schema(), 'free')
$$;

CREATE FUNCTION release_trees(p_incarnation bigint, p_roots bigint[]) RETURNS void LANGUAGE sql AS $$
  UPDATE trees SET owner = NULL WHERE owner = p_incarnation AND open AND root = ANY(p_roots);
  SELECT tell_of_free();
$$;

CREATE FUNCTION leave_cluster(p_incarnation bigint) RETURNS void LANGUAGE sql AS $$
  UPDATE nodes SET alive = false, died_at = clock_timestamp() WHERE incarnation = p_incarnation AND alive;
  -- A node that was lost has a lease that ended; one that left has none.
  DELETE FROM node_leases WHERE incarnation = p_incarnation;
  SELECT tell_of_free();
$$;
`;
