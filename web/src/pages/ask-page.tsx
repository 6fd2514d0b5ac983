// One question by its address, such as from a notification.

import { Link, useParams } from "@tanstack/react-router";
import type { ReactNode } from "react";

import { useAsks } from "../api/queries.ts";
import { AskCard } from "../ui/ask-card.tsx";
import { Card, Empty } from "../ui/controls.tsx";
import { Pending } from "./problem-pages.tsx";

export function AskPage(): ReactNode {
  const { ask: id } = useParams({ from: "/asks/$ask" });
  const asks = useAsks();
  if (asks.data === undefined) return <Pending error={asks.error} />;
  const ask = asks.data.find((each) => each.id === id);
  return (
    <div className="page">
      <h1>Question</h1>
      {ask === undefined ? (
        <div className="card">
          <Empty title="This question is not open">
            It was answered, its time is over, or its task ended. <Link to="/">What waits for you</Link>
          </Empty>
        </div>
      ) : (
        <Card flush>
          <AskCard ask={ask} />
        </Card>
      )}
    </div>
  );
}
