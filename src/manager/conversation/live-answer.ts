// Shows an answer to the person while the model writes it, and keeps the actions of the protocol out of sight.

const finalOpening = /^\s*(?:```json\s*)?\{\s*"action"\s*:\s*"final"\s*,\s*"message"\s*:\s*"/;
const prose = /^[^{`]*/;

/** Takes the pieces of a reply and passes on what the person is to read. */
export function liveAnswer(show: (text: string) => void): (piece: string) => void {
  let reply = "";
  let shown = 0;
  return (piece) => {
    reply += piece;
    const text = readableSoFar(reply);
    if (text.length <= shown) return;
    show(text.slice(shown));
    shown = text.length;
  };
}

function readableSoFar(reply: string): string {
  const opening = finalOpening.exec(reply)?.[0];
  if (opening !== undefined) return stringSoFar(reply.slice(opening.length));
  return prose.exec(reply)?.[0].trimStart() ?? "";
}

/** What is complete of a JSON string whose opening quote is gone. */
function stringSoFar(text: string): string {
  const literal = /^(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*/u.exec(text)?.[0] ?? "";
  const decoded: unknown = JSON.parse(`"${literal}"`);
  // Half of a character waits for its other half.
  return typeof decoded === "string" ? decoded.replace(/[\ud800-\udbff]$/, "") : "";
}
