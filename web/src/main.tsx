// Starts the dashboard: signs in with the one-time code of the address, or with the token of this tab, and shows the pages.

import { StrictMode } from "react";
import { createRoot } from "react-dom/client";

import "./base.css";
import "./pages.css";
import "./ui/ansi.css";
import { SignedIn } from "./signed-in.tsx";

const root = document.getElementById("root");
if (root !== null) {
  createRoot(root).render(
    <StrictMode>
      <SignedIn />
    </StrictMode>,
  );
}
