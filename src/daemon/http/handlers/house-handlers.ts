// What there is to work with: agents, runners, models, and what the routing policy would decide.

import { isAbsolute } from "node:path";

import type { Project } from "../../../client/project.ts";
import { TuttiError } from "../../../protocol/error.ts";
import type { HttpContext } from "../context.ts";
import type { Handlers } from "../handler.ts";

type House = "agents" | "agent" | "runners" | "models" | "route";

export function houseHandlers(context: HttpContext): Pick<Handlers, House> {
  const projectAt = async (folder: string | undefined): Promise<Pick<Project, "agents" | "models">> => {
    if (folder === undefined || isAbsolute(folder)) return context.project(folder ?? context.from);
    throw new TuttiError("invalid_input", `the folder must be an absolute path, not ${folder}`);
  };
  return {
    async agents({ query }) {
      const { agents, problems } = await (await projectAt(query.folder)).agents();
      return { value: { agents: [...agents], problems: [...problems] } };
    },
    async agent({ params, query }) {
      const { agents } = await (await projectAt(query.folder)).agents();
      const found = agents.find(({ name }) => name === params.name);
      if (found === undefined) throw new TuttiError("not_found", `there is no agent ${params.name}`);
      return { value: found };
    },
    runners: () => ({ value: { runners: [...context.runners] } }),
    async models({ query }) {
      const models = await (await projectAt(query.folder)).models({ probe: query.probe === "true" });
      return { value: { models: models.map((model) => ({ ...model, aliases: [...model.aliases] })) } };
    },
    route: async ({ body }) => ({ value: await context.state.client.route(body) }),
  };
}
