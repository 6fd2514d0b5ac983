// The type that a value has after it was recorded: what JSON keeps of it.

type Unrecordable =
  | ((...given: never[]) => unknown)
  | symbol
  | bigint
  | ReadonlyMap<unknown, unknown>
  | ReadonlySet<unknown>;

/** `never` where JSON would lose the value. `undefined` becomes null, and a date becomes its text. */
export type Recorded<T> = T extends string | number | boolean | null
  ? T
  : T extends undefined | void
    ? null
    : T extends { toJSON(): infer Json }
      ? Recorded<Json>
      : T extends Unrecordable
        ? never
        : T extends readonly unknown[]
          ? { [Index in keyof T]: Recorded<T[Index]> }
          : T extends object
            ? { [Name in keyof T as T[Name] extends Unrecordable ? never : Name]: RecordedField<T[Name]> }
            : unknown;

/** A field that is undefined is left out. */
type RecordedField<T> = T extends undefined ? undefined : Recorded<T>;
