// The agents, models and runners of a daemon elsewhere, over its API.
import { allPages } from "../../client/all-pages.ts";
import { service } from "../../client/call.ts";
import type { Catalog } from "../../host/host.ts";
import type { AgentProblem, AgentSummary } from "../../protocol/api/catalog.ts";
import type { Target } from "./find-target.ts";
import { remoteFolder } from "./remote-folder.ts";

export function remoteCatalog({ url, key }: Target): Catalog {
  const { call } = service({ url, bearer: () => key });
  const at = (folder: string | undefined): { folder?: string } => {
    const there = remoteFolder(folder);
    return there === undefined ? {} : { folder: there };
  };
  return {
    models: (folder, { probe }) =>
      allPages(async (cursor) => {
        const { models, next } = await call("models", { query: { ...at(folder), ...cursor, probe } });
        return { items: models, next };
      }),
    runners: async (folder) => (await call("runners", { query: at(folder) })).runners,
    async agents(folder) {
      const problems: AgentProblem[] = [];
      const listed = await allPages<AgentSummary>(async (cursor) => {
        const page = await call("agents", { query: { ...at(folder), ...cursor } });
        problems.push(...page.problems);
        return { items: page.agents, next: page.next };
      });
      // The list has no definitions.
      const read = ({ name }: AgentSummary) => call("agent", { params: { name }, query: at(folder) });
      return { agents: await Promise.all(listed.map(read)), problems };
    },
  };
}
