// Text as the routing rules see it: white space by the Unicode property, letters folded in ASCII alone.

// Not String.prototype.trim: that one also takes U+FEFF away and leaves U+0085.
function isSpace(code: number): boolean {
  if (code <= 0x20) return code === 0x20 || (code >= 0x09 && code <= 0x0d);
  if (code < 0x1680) return code === 0x85 || code === 0xa0;
  if (code >= 0x2000 && code <= 0x200a) return true;
  return [0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000].includes(code);
}

export function isBlank(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) {
    if (!isSpace(text.charCodeAt(at))) return false;
  }
  return true;
}

export function trimmed(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isSpace(text.charCodeAt(start))) start += 1;
  while (end > start && isSpace(text.charCodeAt(end - 1))) end -= 1;
  return start === 0 && end === text.length ? text : text.slice(start, end);
}

export function asciiLower(text: string): string {
  // On ASCII alone the two agree, and this one is the faster.
  if (!/[\u0080-\uffff]/.test(text)) return text.toLowerCase();
  const pieces: string[] = [];
  for (let start = 0; start < text.length; start += piece) {
    const codes: number[] = [];
    for (let at = start; at < Math.min(start + piece, text.length); at += 1) {
      const code = text.charCodeAt(at);
      codes.push(code >= 0x41 && code <= 0x5a ? code + 0x20 : code);
    }
    pieces.push(String.fromCharCode(...codes));
  }
  return pieces.join("");
}

/** As many arguments as a call safely takes. */
const piece = 4096;
