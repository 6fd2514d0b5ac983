// The invocation with which something is said to an agent in a thread.

export interface SayToAgent {
  /** The name or the id of the thread; a new name begins one. */
  readonly thread: string;
  readonly agent: string;
  readonly text: string;
}

export function sayingTo({ thread, agent, text }: SayToAgent): object {
  const message = { role: "user", parts: [{ part_type: "text", data: text }] };
  return { thread, invocation: { targets: [{ agent: { type: "named", agent_id: agent }, message }] } };
}
