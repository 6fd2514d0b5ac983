// The SQL that finds a task and all below it, in a table `below` with their ids.

/** `parameter`: the position of the task among the values of the statement. */
export const subtree = (parameter: number): string => `WITH RECURSIVE below (id) AS (SELECT $${parameter}::bigint
  UNION ALL SELECT tasks.id FROM tasks JOIN below ON tasks.parent = below.id)`;
