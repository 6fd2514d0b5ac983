// Begins a thread: with the manager, or with an agent of a project.

import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";

import { useConnection } from "../../api/connection.tsx";
import { useBoard } from "../../api/queries.ts";
import { attempt } from "../../api/toasts.tsx";
import { Card } from "../../ui/controls.tsx";
import { MessageBox } from "../../ui/message-box.tsx";
import { sayingTo } from "./say-to-agent.ts";

const person = { kind: "person", name: "dashboard" } as const;

export function NewThread(): ReactNode {
  const { tutti, call, queries } = useConnection();
  const navigate = useNavigate();
  const [agent, setAgent] = useState("");
  const [folder, setFolder] = useState("");
  const [name, setName] = useState("");
  const folders = useBoard().data?.folders ?? [];
  const agents = useQuery({
    queryKey: ["agents", folder],
    queryFn: () => call("agents", { query: folder === "" ? {} : { folder } }),
    retry: false,
  });
  const begin = async (text: string): Promise<boolean> => {
    const thread = await attempt(async () => {
      if (agent === "") {
        const conversation = await tutti.startConversation(folder === "" ? {} : { folder });
        await tutti.converse(conversation, text, person);
        return conversation;
      }
      const file = sayingTo({ thread: name.trim() === "" ? `${agent}-${Date.now()}` : name.trim(), agent, text });
      const started = await tutti.invoke(JSON.stringify(file), { folder: folder === "" ? undefined : folder });
      return (await call("beginThread", { body: { task: started.task } })).id;
    });
    if (thread === undefined) return false;
    await queries.invalidateQueries({ queryKey: ["threads"] });
    await navigate({ to: "/threads/$thread", params: { thread } });
    return true;
  };
  return (
    <Card title="New thread">
      <div className="col loose">
        <div className="row folding">
          <label className="field grow">
            <span>With</span>
            <select className="input" value={agent} onChange={(event) => setAgent(event.target.value)}>
              <option value="">the manager</option>
              {agents.data?.agents.map((each) => (
                <option key={each.name} value={each.name}>
                  {each.name}
                </option>
              ))}
            </select>
          </label>
          <label className="field grow">
            <span>Project</span>
            <input
              className="input mono"
              list="thread-folders"
              placeholder="/home/you/project"
              value={folder}
              onChange={(event) => setFolder(event.target.value)}
            />
            <datalist id="thread-folders">
              {folders.map((each) => (
                <option key={each} value={each} />
              ))}
            </datalist>
          </label>
          {agent === "" ? null : (
            <label className="field grow">
              <span>Name of the thread</span>
              <input className="input" value={name} onChange={(event) => setName(event.target.value)} />
            </label>
          )}
        </div>
        <MessageBox
          label="First message"
          placeholder={
            agent === "" ? "What is running? Which goals need me? Start a goal that …" : `What should ${agent} do?`
          }
          button="Begin"
          onSend={begin}
        />
      </div>
    </Card>
  );
}
