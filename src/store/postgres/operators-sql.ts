// What only one node may do, such as telling a gate that a task has ended.

/** A claim is of use while nodes may hear of the same event; a node that is a day behind was declared dead long ago. */
export const operatorsSql = `
CREATE TABLE claims (name text PRIMARY KEY, at timestamptz NOT NULL DEFAULT now());
CREATE INDEX claims_at ON claims (at);

-- True for the first that asks.
CREATE FUNCTION claim_once(p_name text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM claims WHERE at < now() - interval '1 day';
  INSERT INTO claims (name) VALUES (p_name) ON CONFLICT DO NOTHING;
  RETURN FOUND;
END $$;
`;
