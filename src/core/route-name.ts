// How a route is named to people: the runner with its model, or the runner alone where no model does the work.

export function routeName({ runner, model }: { readonly runner: string; readonly model: string }): string {
  return model === runner ? runner : `${runner}:${model}`;
}
