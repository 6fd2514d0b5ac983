#!/usr/bin/env node
// Starts the command line, or says which Node it needs. Plain, old JavaScript: it must load on any Node.
var needed = [24, 12];
var have = process.versions.node.split(".").map(Number);
if (have[0] < needed[0] || (have[0] === needed[0] && have[1] < needed[1])) {
  console.error(
    "tutti: needs Node " +
      needed.join(".") +
      " or newer, this is " +
      process.version +
      " (" +
      process.execPath +
      "). Install a newer Node, or run `npx tutti` inside the clone after `npm ci`.",
  );
  process.exitCode = 2;
} else {
  import("./start.js").catch(function (error) {
    console.error("tutti: could not start: " + (error && error.stack ? error.stack : error));
    process.exitCode = 1;
  });
}
