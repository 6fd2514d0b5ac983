// The icons of the dashboard, drawn with the colour of the text around them.

import type { ReactNode } from "react";

const shapes = {
  home: <path d="M2.5 7.2 8 2.7l5.5 4.5v6.1H10V9.5H6v3.8H2.5z" />,
  board: <path d="M2.5 3h3v10h-3zM6.7 3h3v7h-3zM10.9 3h3v4.6h-3z" />,
  chat: <path d="M2.5 3.5h11v7.6H7.4L4.6 13.4v-2.3H2.5z" />,
  fleet: <path d="M2 8.2h2.6L6.3 4l3 8 1.9-3.8H14" />,
  policy: <path d="M3 4.5h4.2L9 8h4M3 11.5h4.2L9 8m2.4-1.8L13.2 8l-1.8 1.8" />,
  settings: <path d="M2.5 5h6.2M11.4 5h2.1M2.5 11h2.1M7.3 11h6.2M10 3.6v2.8M6 9.6v2.8" />,
  search: <path d="M7 11.6a4.6 4.6 0 1 0 0-9.2 4.6 4.6 0 0 0 0 9.2zM10.4 10.4 14 14" />,
  keys: <path d="M2.5 4.5h11v7h-11zM5 7h.01M8 7h.01M11 7h.01M5.2 9.3h5.6" />,
  inbox: <path d="M2.5 9.2h3l.8 1.8h3.4l.8-1.8h3M2.5 9.2 4.4 3.4h7.2l1.9 5.8v3.6h-11z" />,
  plus: <path d="M8 3.2v9.6M3.2 8h9.6" />,
  branch: (
    <path d="M5 3.2v6.4m0 0a1.7 1.7 0 1 0 0 3.4 1.7 1.7 0 0 0 0-3.4zm6-6.6a1.7 1.7 0 1 0 0 3.4 1.7 1.7 0 0 0 0-3.4zm0 3.4c0 2-2.6 3-6 3.2" />
  ),
  out: <path d="M9.5 3h-6v10h6M7 8h6.5m-2.2-2.3L13.6 8l-2.3 2.3" />,
  more: <path d="M3.2 8h.01M8 8h.01M12.8 8h.01" />,
  arrow: <path d="m6 3.8 4.2 4.2L6 12.2" />,
} satisfies Record<string, ReactNode>;

export type IconName = keyof typeof shapes;

export function Icon({ name }: { readonly name: IconName }): ReactNode {
  return (
    <svg
      className="icon"
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth={name === "more" ? 2.4 : 1.5}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      {shapes[name]}
    </svg>
  );
}

export function Logo(): ReactNode {
  return (
    <svg viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" fill="var(--accent-fill)" />
      <g fill="#fff">
        <rect x="7" y="13" width="3" height="6" rx="1.5" />
        <rect x="12" y="8" width="3" height="16" rx="1.5" />
        <rect x="17" y="11" width="3" height="10" rx="1.5" />
        <rect x="22" y="6" width="3" height="20" rx="1.5" />
      </g>
    </svg>
  );
}
