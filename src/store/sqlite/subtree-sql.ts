// The SQL that finds a task and all below it, in a table `below` with their ids.

export const subtree = `WITH RECURSIVE below (id) AS (SELECT ? UNION ALL SELECT tasks.id FROM tasks JOIN below ON tasks.parent = below.id)`;
