// Answers what there is to work with: agents, runners, models, and what the routing policy would decide.

import { isAbsolute } from "node:path";

import type { Project } from "../../../host/project.ts";
import { TuttiError } from "../../../protocol/error.ts";
import type { Caller } from "../authorize.ts";
import type { HttpContext } from "../context.ts";
import type { Handlers } from "../handler.ts";

type CatalogRoute = "agents" | "agent" | "runners" | "models" | "route";

export function catalogHandlers(context: HttpContext): Pick<Handlers, CatalogRoute> {
  const projectAt = async (folder: string | undefined, caller: Caller): Promise<Pick<Project, "agents" | "models">> => {
    if (folder === undefined) return context.project(context.from);
    if (!isAbsolute(folder)) {
      throw new TuttiError("invalid_input", `the folder must be an absolute path, not ${folder}`);
    }
    // The config of a project is code: it is executed, and could send the providers' keys anywhere. So a caller
    // that may only read cannot choose the project.
    if (caller.kind !== "key" || caller.role === "viewer") {
      const message = "a viewer may only see the project of the service; leave `folder` out, or use an operator's key";
      throw new TuttiError("refused", message);
    }
    return context.project(folder);
  };
  return {
    async agents({ query, caller }) {
      const { agents, problems } = await (await projectAt(query.folder, caller)).agents();
      return { value: { agents: [...agents], problems: [...problems] } };
    },
    async agent({ params, query, caller }) {
      const { agents } = await (await projectAt(query.folder, caller)).agents();
      const found = agents.find(({ name }) => name === params.name);
      if (found === undefined) throw new TuttiError("not_found", `there is no agent ${params.name}`);
      return { value: found };
    },
    runners: () => ({ value: { runners: [...context.runners] } }),
    async models({ query, caller }) {
      const models = await (await projectAt(query.folder, caller)).models({ probe: query.probe === true });
      return { value: { models: models.map((model) => ({ ...model, aliases: [...model.aliases] })) } };
    },
    route: async ({ body }) => ({ value: await context.state.client.route(body) }),
  };
}
