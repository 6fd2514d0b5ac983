// What the parameters of the API mean, by name: a name means the same on every route that has it.

export const parameterNotes: Readonly<Record<string, string>> = {
  task: "A task's id",
<<<<<<< HEAD
  conversation: "A conversation's id, which is that of its task",
=======
  goal: "A goal's id",
>>>>>>> ec9100a (The API document says what the id of a goal is)
  ask: "An ask's id",
  wait: "A wait's id",
  workspace: "A workspace's id",
  attempt: "An attempt of the task; the newest one, or the integration of the tasks below it, when absent",
  sid: "An operator's session id",
  id: "A key's id",
  name: "An agent's name",
  task_id: "The id of the task the worker was handed",
  folder:
    "An absolute path. For an invocation: the folder that its relative roots start at and whose project's config applies. Elsewhere: a folder in the project; the one the service was started in when absent",
  anew: "Start another even if the same invocation or goal has not finished",
  limit: "At most this many",
  cursor: "`next` of the page before",
  status: "Only tasks with this status",
  agent: "Only tasks of this agent",
  runner: "Only tasks of this runner",
  parent: "Only tasks directly below this one",
  roots: "`false`: also tasks below the roots",
  after: "A sequence number; what comes after it is returned",
  live: "`true`: also text while it is written, as events named `live`; only in a stream",
  wait_ms: "How many milliseconds the request may stay open for the task to end",
  probe: "`true`: ask the providers whether they can be reached",
  ok: "`false`: the work did not succeed",
  verdict: "Another spelling of `ok`; it may not contradict it",
  input_tokens: "Tokens that the work read since the last report of usage",
  output_tokens: "Tokens that the work wrote since the last report of usage",
  money_micro_usd: "What the work cost since the last report of usage, in millionths of a US dollar",
  recent: "How many of the latest events are returned",
  patch_bytes: "How many bytes of the patch are sent at most; 0 for none",
  uncommitted: "What happens to uncommitted work: `refuse`, `save` it in a ref, or `discard` it",
  ticket: "A one-time ticket, instead of the Authorization header",
  "idempotency-key":
    "The same key again gives what was made with it, such as a task, finished or not; with another body it is a conflict",
  "last-event-id": "The `id` of the last event that was seen; the stream goes on after it. It wins over `after`",
};
