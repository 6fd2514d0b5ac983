// Drops the fields a model left out: providers that demand every field make models send null for absent ones.

type WithoutNulls<T> = { readonly [K in keyof T]?: NonNullable<T[K]> };

export function withoutNulls<T extends object>(fields: T): WithoutNulls<T>;
export function withoutNulls(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined));
}
