// Search over goals and transcripts. The service has the index; the page shows one page of hits after another.

import { useInfiniteQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";

import type { SearchPage as HitPage } from "../../../src/client/index.ts";
import { useConnection } from "../api/connection.tsx";
import { Card, Empty, TimeAgo } from "../ui/controls.tsx";
import { VisiblePieces, Words } from "../ui/outside-text.tsx";
import { Pending } from "./problem-pages.tsx";

export function SearchPage(): ReactNode {
  const { q } = useSearch({ from: "/search" });
  const navigate = useNavigate();
  const [text, setText] = useState(q);
  return (
    <div className="page">
      <h1>Search</h1>
      <form
        className="row"
        role="search"
        onSubmit={(event) => {
          event.preventDefault();
          void navigate({ to: "/search", search: { q: text.trim() } });
        }}
      >
        <input
          className="input"
          autoFocus
          aria-label="Words to search for"
          placeholder="Words of goals, messages, results and questions"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <button type="submit" className="button primary">
          Search
        </button>
      </form>
      {q === "" ? (
        <Empty title="Search everything that was said and done">
          All words must occur; “words in quotes” follow each other.
        </Empty>
      ) : (
        <Hits key={q} q={q} />
      )}
    </div>
  );
}

function Hits({ q }: { readonly q: string }): ReactNode {
  const { call } = useConnection();
  const found = useInfiniteQuery({
    queryKey: ["search", q],
    initialPageParam: "",
    queryFn: ({ pageParam }) => call("search", { query: { q, ...(pageParam === "" ? {} : { cursor: pageParam }) } }),
    getNextPageParam: (last) => last.next ?? undefined,
  });
  if (found.data === undefined) return <Pending error={found.error} />;
  const hits = found.data.pages.flatMap((page) => page.hits);
  const behind = found.data.pages.at(-1)?.behind ?? 0;
  return (
    <Card title="Found" end={<span className="count">{`${hits.length}${found.hasNextPage ? "+" : ""}`}</span>} flush>
      {hits.length === 0 ? <Empty title="Nothing was found">Try fewer or shorter words.</Empty> : null}
      {hits.map((hit) => (
        <Hit key={hit.seq} hit={hit} />
      ))}
      {behind > 0 ? (
        <p className="item small warn">{behind} events are still being indexed; search again in a moment.</p>
      ) : null}
      {found.hasNextPage ? (
        <div className="item">
          <button type="button" className="button tight" onClick={() => void found.fetchNextPage()}>
            More
          </button>
        </div>
      ) : null}
    </Card>
  );
}

function Hit({ hit }: { readonly hit: HitPage["hits"][number] }): ReactNode {
  const inner = (
    <>
      <span className="hit-kind">
        <span className="tag">{hit.kind}</span>
      </span>
      <span className="col tightest grow">
        <span className="clip">
          <Words text={hit.title === "" ? hit.agent : hit.title} />
        </span>
        <span className="small soft hit">
          {hit.excerpt.map((piece, index) =>
            piece.match ? (
              <mark key={index}>
                <VisiblePieces text={piece.text} />
              </mark>
            ) : (
              <VisiblePieces key={index} text={piece.text} />
            ),
          )}
        </span>
      </span>
      <span className="tiny faint">
        <TimeAgo at={hit.at} />
      </span>
    </>
  );
  return hit.kind === "goal" && hit.goal !== null ? (
    <Link to="/goals/$goal" params={{ goal: hit.goal }} className="item">
      {inner}
    </Link>
  ) : (
    <Link to="/tasks/$task" params={{ task: hit.task }} hash={`e${hit.seq}`} className="item">
      {inner}
    </Link>
  );
}
