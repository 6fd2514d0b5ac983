// The forms in which a secret may occur in a text: as it is, escaped in JSON, in base64, in a URL.

import { encodeBase64url } from "../../protocol/operator/base64url.ts";

/** JSON inside JSON inside JSON. Deeper ones are found after the JSON around them has been parsed. */
const escapeLevels = 3;

/** The value itself is the first. */
export function secretForms(value: string): string[] {
  return [...new Set([value, ...escapedForms(value), ...base64Forms(value), ...urlForms(value)])];
}

function escapedForms(value: string): string[] {
  const forms: string[] = [];
  let escaped = value;
  for (let level = 0; level < escapeLevels; level += 1) {
    escaped = escapeJson(escaped);
    forms.push(escaped);
  }
  const [once = value] = forms;
  // As other JSON writers escape it: ASCII only, safe in HTML, with escaped slashes.
  const others = [/[^\0-\x7f]/g, /[<>&]/g].map((kind) => once.replaceAll(kind, unicodeEscape));
  return [...forms, ...others, once.replaceAll("/", String.raw`\/`)];
}

function escapeJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function unicodeEscape(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/**
 * The base64 of a text that contains the value depends on the number of bytes before it, modulo three. The characters at
 * both ends, which also encode bits of the neighbours, are left out.
 */
function base64Forms(value: string): string[] {
  const bytes = new TextEncoder().encode(value);
  return [0, 1, 2].flatMap((before) => {
    const placed = new Uint8Array(before + bytes.length);
    placed.set(bytes, before);
    const whole = encodeBase64url(placed).slice(
      Math.ceil((before * 8) / 6),
      Math.floor(((before + bytes.length) * 8) / 6),
    );
    return [whole, whole.replaceAll("-", "+").replaceAll("_", "/")];
  });
}

function urlForms(value: string): string[] {
  const whole = encodeURIComponent(value.toWellFormed());
  const strict = whole.replaceAll(/[!'()*]/g, percent);
  const forms = [whole, strict, strict.replaceAll("%20", "+"), encodeURI(value.toWellFormed())];
  return [...forms, ...forms.map((form) => form.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()))];
}

function percent(unit: string): string {
  return `%${unit.charCodeAt(0).toString(16).toUpperCase()}`;
}
