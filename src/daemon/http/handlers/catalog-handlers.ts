// Answers what there is to work with: agents, runners, models, and what the routing policy would decide.

import type { Project } from "../../../host/project.ts";
import type { AgentSummary, AgentView, ModelView, RunnerView } from "../../../protocol/api/catalog.ts";
import type { Service } from "../../../client/call.ts";
import { TuttiError } from "../../../protocol/error.ts";
import { lookGate } from "../../state/look-gate.ts";
import type { Caller } from "../authorize.ts";
import { mayChooseFolder, mustBeOperator } from "../chosen-folder.ts";
import type { HttpContext } from "../context.ts";
import type { Handlers } from "../handler.ts";
import { type Asking, lookWhereFolderIs } from "../here-or-elsewhere.ts";
import { listPage } from "../list-page.ts";

type CatalogProject = Pick<Project, "agents" | "models" | "runners">;
type CatalogRoute = "agents" | "agent" | "runners" | "models" | "policy" | "route" | "review";

const mostProblems = 200;
const descriptionLength = 400;

function summaryOf({ definition, ...agent }: AgentView): AgentSummary {
  const { description } = definition;
  return { ...agent, ...(description === undefined ? {} : { description: description.slice(0, descriptionLength) }) };
}

/** A project writes the description, and it can be long. */
function summaryOfRunner(runner: RunnerView): RunnerView {
  return { ...runner, description: runner.description.slice(0, descriptionLength) };
}

export function catalogHandlers(context: HttpContext): Pick<Handlers, CatalogRoute> {
  /** The config of a project may be code, which runs in a process of its own each time. */
  const gate = lookGate();
  const projectAt = async (folder: string | undefined, caller: Caller): Promise<CatalogProject> => {
    if (folder === undefined) return context.project(context.from);
    mayChooseFolder(folder, caller);
    return context.project(folder);
  };
  /** What a folder has is told by a node that has the folder. */
  const looked = async <T>(
    request: Asking & { readonly query: { readonly folder?: string | undefined }; readonly caller: Caller },
    looks: { readonly here: () => Promise<T>; readonly there: (call: Service["call"]) => Promise<T> },
  ): Promise<{ readonly value: T }> => {
    mayChooseFolder(request.query.folder, request.caller);
    const here = (): Promise<T> => gate.enter(request.signal, looks.here);
    return { value: await lookWhereFolderIs(context.state, request, request.query.folder, { ...looks, here }) };
  };
  return {
    agents: (request) =>
      looked(request, {
        async here() {
          const { query, caller } = request;
          const { agents, problems } = await (await projectAt(query.folder, caller)).agents();
          const { items, next } = listPage(agents.map(summaryOf), query, ({ name }) => name);
          const told = query.cursor === undefined ? problems.slice(0, mostProblems) : [];
          return { agents: items, problems: told, next };
        },
        there: (call) => call("agents", { query: request.query }),
      }),
    agent: (request) =>
      looked(request, {
        async here() {
          const { params, query, caller } = request;
          const { agents } = await (await projectAt(query.folder, caller)).agents();
          const found = agents.find(({ name }) => name === params.name);
          if (found === undefined) throw new TuttiError("not_found", `there is no agent ${params.name}`);
          return found;
        },
        there: (call) => call("agent", { params: request.params, query: request.query }),
      }),
    runners: (request) =>
      looked(request, {
        async here() {
          const { query, caller } = request;
          const { runners, problem } =
            query.folder === undefined
              ? { runners: context.runners, problem: undefined }
              : await (await projectAt(query.folder, caller)).runners();
          if (problem !== undefined) throw new TuttiError("refused", problem);
          const { items, next } = listPage(runners.map(summaryOfRunner), query, ({ kind }) => kind);
          return { runners: items, next };
        },
        there: (call) => call("runners", { query: request.query }),
      }),
    async models(request) {
      const { query, caller } = request;
      const probe = query.probe === true;
      // A probe sends the providers' keys, which is more than looking.
      if (probe) mustBeOperator(caller, "probe providers");
      return looked(request, {
        async here() {
          const models =
            query.folder === undefined
              ? await context.models({ probe })
              : await trustedModels(await projectAt(query.folder, caller), probe);
          const { items, next } = listPage(models, query, ({ model }) => model);
          return { models: items.map((model) => ({ ...model, aliases: [...model.aliases] })), next };
        },
        there: (call) => call("models", { query }),
      });
    },
    policy: (request) =>
      looked(request, {
        here: () => context.policy(request.query.folder ?? context.from),
        there: (call) => call("policy", { query: request.query }),
      }),
    route: async ({ body }) => ({ value: await context.state.client.route(body) }),
    review: async ({ body }) => ({ value: await context.state.client.review(body) }),
  };
}

/** The config of a project may be code, and names the servers that get the providers' keys. */
async function trustedModels(project: Pick<Project, "models">, probe: boolean): Promise<readonly ModelView[]> {
  const { models, problem } = await project.models({ probe: false });
  if (problem !== undefined) throw new TuttiError("refused", problem);
  return probe ? (await project.models({ probe })).models : models;
}
