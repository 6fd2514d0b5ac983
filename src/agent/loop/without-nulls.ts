// Drops what a model left out: providers that demand every field send null for the absent ones.

type Given<T> = { readonly [K in keyof T]?: NonNullable<T[K]> };

export function withoutNulls<T extends object>(fields: T): Given<T>;
export function withoutNulls(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined));
}
