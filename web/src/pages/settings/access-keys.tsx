// The access keys of the API: who has one, a new one that is shown once, and revoking.

import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";

import type { KeyRole, MadeKey } from "../../../../src/client/index.ts";
import { useConnection } from "../../api/connection.tsx";
import { attempt } from "../../api/toasts.tsx";
import { Card, TimeAgo } from "../../ui/controls.tsx";
import { Words } from "../../ui/outside-text.tsx";

const roles: readonly { readonly role: KeyRole; readonly means: string }[] = [
  { role: "viewer", means: "reads" },
  { role: "operator", means: "also starts, answers and cancels" },
  { role: "admin", means: "also keys and shutdown" },
];

export function AccessKeys(): ReactNode {
  const { tutti, queries } = useConnection();
  const [name, setName] = useState("");
  const [role, setRole] = useState<KeyRole>("viewer");
  const [person, setPerson] = useState(false);
  const [made, setMade] = useState<MadeKey>();
  const keys = useQuery({ queryKey: ["keys"], queryFn: () => tutti.keys(), retry: false });
  const refresh = (): Promise<void> => queries.invalidateQueries({ queryKey: ["keys"] });
  const add = async (): Promise<void> => {
    const key = await attempt(() => tutti.addKey({ name: name.trim(), role, person }));
    if (key === undefined) return;
    setMade(key);
    setName("");
    await refresh();
  };
  const revoke = async (id: string): Promise<void> => {
    await attempt(() => tutti.revokeKey(id), "The key was revoked.");
    await refresh();
  };
  if (keys.error !== null) {
    return (
      <Card title="Access keys">
        <p className="soft small">{keys.error.message}</p>
      </Card>
    );
  }
  return (
    <Card title="Access keys" flush>
      {keys.data?.map((key) => (
        <div key={key.id} className="item">
          <div className="col tightest grow">
            <strong>
              <Words text={key.name} />
            </strong>
            <span className="tiny faint">
              made <TimeAgo at={key.created_at} />
              {key.revoked_at === null ? null : (
                <>
                  , revoked <TimeAgo at={key.revoked_at} />
                </>
              )}
            </span>
          </div>
          <span className="tag">{key.person ? "person" : "program"}</span>
          <span className="tag">{key.role}</span>
          {key.revoked_at === null ? (
            <button type="button" className="button danger tight" onClick={() => void revoke(key.id)}>
              Revoke
            </button>
          ) : (
            <span className="tag">revoked</span>
          )}
        </div>
      ))}
      {made === undefined ? null : (
        <div className="item col" role="status">
          <span className="small">
            The key of <strong>{made.name}</strong>. It is shown only this once:
          </span>
          <code className="command">{made.key}</code>
        </div>
      )}
      <form
        className="item row folding"
        onSubmit={(event) => {
          event.preventDefault();
          void add();
        }}
      >
        <input
          className="input key-name"
          aria-label="Name of the new key"
          placeholder="Name of a new key"
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        <select
          className="input key-role"
          aria-label="Role of the new key"
          value={role}
          onChange={(event) => setRole(roles.find((each) => each.role === event.target.value)?.role ?? "viewer")}
        >
          {roles.map((each) => (
            <option key={each.role} value={each.role}>
              {each.role}: {each.means}
            </option>
          ))}
        </select>
        <label className="small row">
          <input type="checkbox" checked={person} onChange={(event) => setPerson(event.target.checked)} />
          used by a person
        </label>
        <button type="submit" className="button" disabled={name.trim() === ""}>
          Add
        </button>
      </form>
    </Card>
  );
}
