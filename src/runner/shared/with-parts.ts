// A port with some of its parts replaced, for a runner that works inside of another one.

/** Methods that are not replaced run on the whole itself, which may have private fields. */
export function withParts<T extends object>(whole: T, parts: Readonly<Record<string, unknown>>): T {
  return new Proxy(whole, {
    get(target, name) {
      if (Object.hasOwn(parts, name)) return Reflect.get(parts, name);
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
