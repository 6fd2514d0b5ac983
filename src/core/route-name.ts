// How a route is named to people: the runner with its model, or the runner alone where no model does the work.

export function routeName({ runner, model }: { readonly runner: string; readonly model: string }): string {
  return model === runner ? runner : `${runner}:${model}`;
}

/** Who chose the route and why. `attempt` is the one that it was chosen for. */
export function chosenText(
  { chosen_by, reason }: { readonly chosen_by: string; readonly reason: string },
  attempt = 1,
): string {
  const again = attempt > 1 ? ` for attempt ${attempt}` : "";
  switch (chosen_by) {
    case "person":
      return `chosen by a person${again}`;
    case "agent":
      return `named in the agent's definition${again}`;
    case "default":
      return `chosen by the default policy${again} (${reason})`;
    default:
      return `chosen by the ${chosen_by}${again} (${reason})`;
  }
}
