#!/usr/bin/env node
// Starts the command line on a Node that is new enough: this one, or the one that was installed with Tutti. Plain, old JavaScript: it must load on any Node.
var needed = [24, 12];

// The address of a database holds a password: it must stand in the list of processes no longer than can be helped.
var named = /^--database(=|$)/;
if (
  process.argv.some(function (each) {
    return named.test(each);
  })
)
  process.title = "tutti";

var have = process.versions.node.split(".").map(Number);
var oldNode = have[0] < needed[0] || (have[0] === needed[0] && have[1] < needed[1]);

var started = oldNode ? import("./installed-node.js").then(runInstalled) : import("./start.js");
started.catch(function (error) {
  console.error("tutti: could not start: " + (error && error.stack ? error.stack : error));
  process.exitCode = 1;
});

function runInstalled(installed) {
  return installed.runOnInstalledNode().then(function (problem) {
    if (problem === undefined) return;
    console.error(
      "tutti: needs Node " +
        needed.join(".") +
        " or newer, and this is " +
        process.version +
        " (" +
        process.execPath +
        "). The Node that comes with Tutti cannot be used: " +
        problem +
        ". Install a newer Node, or install Tutti again without leaving out optional dependencies.",
    );
    process.exitCode = 2;
  });
}
