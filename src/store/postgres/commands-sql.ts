// Requests that reach a node which does not own their tree, as rows that the owner sees to; and who may start work under a key.

/** The payload of a notification: the root of the tree, or `done` and the id of the command. */
export const commandsSql = `
CREATE TABLE commands (
  id bigserial PRIMARY KEY, root bigint NOT NULL, body text NOT NULL, taken boolean NOT NULL DEFAULT false, outcome text,
  made_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX commands_due ON commands (root) WHERE outcome IS NULL;

CREATE FUNCTION send_command(p_root bigint, p_body text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE v_id bigint;
BEGIN
  INSERT INTO commands (root, body) VALUES (p_root, p_body) RETURNING id INTO v_id;
  PERFORM pg_notify('tutti_commands_' || current_schema(), p_root::text);
  RETURN v_id;
END $$;

-- A key belongs to the node that claims it until its task is committed. Who dies loses its claims.
CREATE FUNCTION claim_key(p_key text, p_incarnation bigint, p_finished boolean)
RETURNS TABLE (mine boolean, task bigint, open boolean) LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO keys (key, claimed_by) VALUES (p_key, p_incarnation) ON CONFLICT (key) DO NOTHING;
  PERFORM 1 FROM keys WHERE key = p_key FOR UPDATE;
  UPDATE keys k SET claimed_by = p_incarnation WHERE k.key = p_key
    AND NOT EXISTS (SELECT 1 FROM nodes n WHERE n.incarnation = k.claimed_by AND n.alive)
    AND (k.task IS NULL
      OR (NOT p_finished AND NOT EXISTS (SELECT 1 FROM trees t WHERE t.root = k.task AND t.open)));
  RETURN QUERY SELECT COALESCE(k.claimed_by = p_incarnation, false), k.task,
      EXISTS (SELECT 1 FROM trees t WHERE t.root = k.task AND t.open)
    FROM keys k WHERE k.key = p_key;
END $$;

CREATE FUNCTION release_key(p_key text, p_incarnation bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM keys WHERE key = p_key AND claimed_by = p_incarnation AND task IS NULL;
  UPDATE keys SET claimed_by = NULL WHERE key = p_key AND claimed_by = p_incarnation;
END $$;
`;
