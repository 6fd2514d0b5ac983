// The inbox: everything that waits for a person, the oldest first, answered in place and with the keys alone.

import { type ReactNode, useEffect, useState } from "react";

import type { ListedAsk } from "../../../../src/client/index.ts";
import { isTyping } from "../../page-keys.ts";
import { AskCard } from "../../ui/ask-card.tsx";
import { Card } from "../../ui/controls.tsx";

/** Every card reads its ask whole, so only the first ones are drawn; the rest follow when these are answered. */
const mostShown = 20;

export function Inbox({ asks }: { readonly asks: readonly ListedAsk[] }): ReactNode {
  const [chosen, setChosen] = useState<string>();
  const shown = asks.slice(0, mostShown);
  const at = Math.max(
    0,
    shown.findIndex(({ id }) => id === chosen),
  );
  const current = shown[at];
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      if (document.querySelector("dialog[open]") !== null || current === undefined) return;
      const step = event.key === "j" ? 1 : event.key === "k" ? -1 : 0;
      if (step !== 0) {
        const next = shown[Math.min(shown.length - 1, Math.max(0, at + step))];
        setChosen(next?.id);
        return;
      }
      const card = document.querySelector(`[data-ask="${CSS.escape(current.id)}"]`);
      if (event.key === "Enter" && event.target === document.body) {
        card?.querySelector("textarea")?.focus();
        event.preventDefault();
        return;
      }
      if (!/^[yn1-9]$/.test(event.key)) return;
      card?.querySelector<HTMLButtonElement>(`[data-key="${event.key}"]`)?.click();
    };
    window.addEventListener("keydown", listen);
    return () => window.removeEventListener("keydown", listen);
  }, [shown, at, current]);
  return (
    <Card title="Inbox" end={<span className="count needs">{asks.length}</span>} flush>
      {shown.map((ask) => (
        <AskCard key={ask.id} ask={ask} selected={ask.id === current?.id} onSelect={() => setChosen(ask.id)} />
      ))}
      {asks.length > shown.length ? (
        <p className="item small soft">{asks.length - shown.length} more come after these.</p>
      ) : null}
    </Card>
  );
}
