// Builds the dashboard into dist/web/, from where the daemon serves it; `vite web` serves it while it is being written.

import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react()],
  build: {
    outDir: "../dist/web",
    emptyOutDir: true,
    // A small file as a data: URL would need an exception in the content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: "es2023",
    sourcemap: false,
    // What the packages that went in ask for; part of the published package.
    license: { fileName: "licenses.md" },
  },
  server: {
    host: "127.0.0.1",
    proxy: { "/v1": { target: process.env["TUTTI_URL"] ?? "http://127.0.0.1:7878", changeOrigin: true } },
  },
});
