// Documents that all nodes share: each is read whole, and changed only by whoever has seen its last version.

/** In characters. What people agree to is small; this bounds what one change costs every node. */
export const largestDocument = 2 * 1024 * 1024;

/** What the database answers instead of a version. */
export const otherKey = -1;

export const documentsTable = `
CREATE TABLE documents (
  name text PRIMARY KEY, version bigint NOT NULL, body text NOT NULL CHECK (length(body) <= ${largestDocument}),
  changed_by text NOT NULL, changed_at bigint NOT NULL
);
`;

export const documentsSql = `
-- p_version is the version that the change is based on; 0 when there was none. NULL: somebody else was first, and nothing
-- was changed. ${otherKey}: something in it is sealed with another key than that of the cluster. Otherwise the version of the
-- shared rows from which on every node has it.
CREATE FUNCTION change_document(p_name text, p_version bigint, p_body text, p_by text, p_sealed_with text DEFAULT NULL)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE v_version bigint;
BEGIN
  SELECT version + 1 INTO v_version FROM shared_version FOR UPDATE;
  IF p_sealed_with <> (SELECT value FROM meta WHERE key = 'key_check') THEN RETURN ${otherKey}; END IF;
  IF COALESCE((SELECT version FROM documents WHERE name = p_name), 0) <> p_version THEN RETURN NULL; END IF;
  UPDATE shared_version SET version = v_version;
  INSERT INTO documents VALUES (p_name, 1, p_body, p_by, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint)
    ON CONFLICT (name) DO UPDATE SET version = documents.version + 1, body = excluded.body,
      changed_by = excluded.changed_by, changed_at = excluded.changed_at;
  PERFORM pg_notify('tutti_shared_' || current_schema(), v_version::text);
  RETURN v_version;
END $$;
`;

/** The copy that each node has of them. */
export const documentsCacheSql = `
CREATE TABLE IF NOT EXISTS documents (
  name TEXT PRIMARY KEY, version INTEGER NOT NULL, body TEXT NOT NULL, changed_by TEXT NOT NULL, changed_at INTEGER NOT NULL
) WITHOUT ROWID
`;
