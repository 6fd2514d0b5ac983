// The command palette: pages, goals and tasks by a few letters, and the search for everything else.

import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, useMemo, useState } from "react";

import { useConnection } from "./api/connection.tsx";
import { attempt } from "./api/toasts.tsx";
import { pageKeys } from "./page-keys.ts";
import { Dialog } from "./ui/controls.tsx";
import { Words } from "./ui/outside-text.tsx";
import { StateMark } from "./ui/state-mark.tsx";

interface PaletteItem {
  readonly id: string;
  readonly title: string;
  readonly note: string;
  readonly state?: string;
  readonly run: () => void;
}

export function CommandPalette({ onClose }: { readonly onClose: () => void }): ReactNode {
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState(0);
  const navigate = useNavigate();
  const { tutti, queries } = useConnection();
  const goals = useQuery({ queryKey: ["palette-goals"], queryFn: () => tutti.goals({ limit: 50 }) });
  const items = useMemo((): readonly PaletteItem[] => {
    const word = text.trim().toLowerCase();
    const go = (to: string) => () => void navigate({ to });
    const pages = Object.values(pageKeys).map(({ to, title }): PaletteItem => ({
      id: to,
      title,
      note: "Page",
      run: go(to),
    }));
    const known = (goals.data?.goals ?? []).map(({ goal, text: about, status }): PaletteItem => ({
      id: goal,
      title: about,
      note: "Goal",
      state: status,
      run: go(`/goals/${goal}`),
    }));
    const pause = async (paused: boolean): Promise<void> => {
      await (paused ? tutti.pause() : tutti.resume());
      await queries.invalidateQueries({ queryKey: ["status"] });
    };
    const commands: readonly PaletteItem[] = [
      {
        id: "pause",
        title: "Pause: begin no new work",
        note: "Command",
        run: () => void attempt(() => pause(true), "Paused."),
      },
      { id: "resume", title: "Resume work", note: "Command", run: () => void attempt(() => pause(false), "Resumed.") },
    ];
    const direct = /^(tsk|gol|ask)_\S+$/.exec(text.trim());
    const places: Readonly<Record<string, string>> = { tsk: "tasks", gol: "goals", ask: "asks" };
    const byId: readonly PaletteItem[] =
      direct === null
        ? []
        : [{ id: "id", title: direct[0], note: "Open", run: go(`/${places[direct[1] ?? ""] ?? ""}/${direct[0]}`) }];
    const search: readonly PaletteItem[] =
      word === ""
        ? []
        : [
            {
              id: "search",
              title: `Search for “${text.trim()}”`,
              note: "Goals and transcripts",
              run: () => void navigate({ to: "/search", search: { q: text.trim() } }),
            },
          ];
    const found = [...pages, ...commands, ...known].filter(
      ({ title, id }) => word === "" || title.toLowerCase().includes(word) || id.includes(word),
    );
    return [...byId, ...found.slice(0, 11), ...search];
  }, [text, goals.data, navigate, tutti, queries]);
  const at = Math.min(chosen, items.length - 1);
  return (
    <Dialog title="Go to, or search" onClose={onClose}>
      <form
        className="palette"
        onSubmit={(event) => {
          event.preventDefault();
          items[at]?.run();
          onClose();
        }}
      >
        <input
          className="input"
          autoFocus
          role="combobox"
          aria-label="Go to a page, a goal or a task, or search"
          aria-expanded="true"
          aria-controls="palette-items"
          aria-activedescendant={`palette-${at}`}
          placeholder="A page, a goal, an id, or words to search for"
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            setChosen(0);
          }}
          onKeyDown={(event) => {
            const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
            if (step === 0) return;
            event.preventDefault();
            setChosen((at + step + items.length) % Math.max(1, items.length));
          }}
        />
        <ul id="palette-items" role="listbox" aria-label="Found">
          {items.map((item, index) => (
            <li
              key={item.id}
              id={`palette-${index}`}
              role="option"
              aria-selected={index === at}
              className="palette-item"
              onMouseMove={() => setChosen(index)}
              onClick={() => {
                item.run();
                onClose();
              }}
            >
              {item.state === undefined ? null : <StateMark state={item.state} bare />}
              <span className="grow clip">
                <Words text={item.title} />
              </span>
              <span className="faint tiny">{item.note}</span>
            </li>
          ))}
        </ul>
      </form>
    </Dialog>
  );
}
