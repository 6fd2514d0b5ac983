// Where operators are connected, and what only one node does: once, such as telling a gate that a task has ended, or as long as it lives, such as sending notices.

/** A claim is of use while nodes may hear of the same event; a node that is a day behind was declared dead long ago. */
export const operatorsSql = `
-- Read by the nodes as it changes, and not kept in their caches. One of a node that is dead counts for nothing.
CREATE TABLE operator_places (sid text PRIMARY KEY, node bigint NOT NULL, connection text NOT NULL);
CREATE TRIGGER operator_places_changed AFTER INSERT OR UPDATE ON operator_places
  FOR EACH ROW EXECUTE FUNCTION note_change();
CREATE FUNCTION forget_place() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM operator_places WHERE sid = OLD.sid;
  RETURN NULL;
END $$;
CREATE TRIGGER operators_gone AFTER DELETE ON operators FOR EACH ROW EXECUTE FUNCTION forget_place();

CREATE TABLE claims (name text PRIMARY KEY, at timestamptz NOT NULL DEFAULT now());
CREATE INDEX claims_at ON claims (at);

-- True for the first that asks.
CREATE FUNCTION claim_once(p_name text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM claims WHERE at < now() - interval '1 day';
  INSERT INTO claims (name) VALUES (p_name) ON CONFLICT DO NOTHING;
  RETURN FOUND;
END $$;

CREATE TABLE turns (name text PRIMARY KEY, incarnation bigint NOT NULL);

-- True for one living node, until it dies or leaves.
CREATE FUNCTION take_turn(p_name text, p_incarnation bigint) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM nodes WHERE incarnation = p_incarnation AND alive;
  IF NOT FOUND THEN RETURN false; END IF;
  INSERT INTO turns VALUES (p_name, p_incarnation)
    ON CONFLICT (name) DO UPDATE SET incarnation = excluded.incarnation
    WHERE turns.incarnation = excluded.incarnation
      OR NOT EXISTS (SELECT 1 FROM nodes n WHERE n.incarnation = turns.incarnation AND n.alive);
  RETURN FOUND;
END $$;
`;
