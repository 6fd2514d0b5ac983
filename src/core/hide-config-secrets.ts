// A runner's config as others may see it: with the names of its variables and headers, and without their values.

const hidden = "(hidden)";

/** All values below these are hidden: whoever writes a secret into a config writes it there. */
const secretMaps = /^(env|environment|headers)$/i;
const secretNames = /(secret|token|password|passphrase|authorization|credential|api[-_]?key|private[-_]?key)/i;

export function hideConfigSecrets(config: unknown): unknown {
  if (Array.isArray(config)) return config.map(hideConfigSecrets);
  if (typeof config !== "object" || config === null) return config;
  return Object.fromEntries(
    Object.entries(config).map(([name, value]: [string, unknown]) => [name, visible(name, value)]),
  );
}

function visible(name: string, value: unknown): unknown {
  if (secretMaps.test(name) && typeof value === "object" && value !== null && !Array.isArray(value)) {
    return Object.fromEntries(Object.keys(value).map((variable) => [variable, hidden]));
  }
  return secretNames.test(name) && typeof value === "string" ? hidden : hideConfigSecrets(value);
}
