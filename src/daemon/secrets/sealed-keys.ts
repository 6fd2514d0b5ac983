// Keys of model providers in the database of a cluster: each sealed with the key of the cluster, for its own provider alone.

import { z } from "zod";

import { TuttiError } from "../../protocol/error.ts";
import { parseJson } from "../../protocol/json/parse-json.ts";
import type { ClusterKey } from "../cluster/cluster-key.ts";
import type { Documents } from "../documents/documents.ts";
import type { ProviderKeys } from "./provider-keys.ts";

const document = "provider-keys";
const Sealed = z.strictObject({
  keys: z.record(z.string(), z.object({ sealed: z.string(), at: z.number(), by: z.string() })),
});
type Sealed = z.infer<typeof Sealed>;

/** The document before any key is kept. */
export const noSealedKeys = JSON.stringify({ keys: {} });

/** The text of the document, sealed with another key. */
export function resealedKeys(text: string, from: ClusterKey, to: ClusterKey): string {
  const { keys } = Sealed.parse(parseJson(text));
  const again = Object.entries(keys).map(([provider, { sealed, ...rest }]) => {
    const name = `${document}/${provider}`;
    return [provider, { sealed: to.seal(name, from.unseal(name, sealed)), ...rest }] as const;
  });
  return JSON.stringify({ keys: Object.fromEntries(again) });
}

/** A command that does not touch a key does not need that of the cluster, so it is asked for only then. */
export function sealedKeys(documents: Documents, clusterKey: () => ClusterKey): ProviderKeys {
  const parse = (text: string | undefined): Sealed["keys"] => {
    if (text === undefined) return {};
    const read = Sealed.safeParse(parseJson(text));
    if (read.success) return read.data.keys;
    throw new TuttiError("corrupt", `${documents.placeOf(document)} cannot be read; restore the database from a copy`);
  };
  const read = (): Sealed["keys"] => parse(documents.read(document));
  const written = (keys: Sealed["keys"]): string => JSON.stringify({ keys });
  return {
    get(provider) {
      const keys = read();
      const found = Object.hasOwn(keys, provider) ? keys[provider] : undefined;
      return found === undefined ? undefined : clusterKey().unseal(`${document}/${provider}`, found.sealed);
    },
    list: () => Object.keys(read()),
    async put(provider, key) {
      await documents.change(document, (text) => {
        const sealing = clusterKey();
        const made = { sealed: sealing.seal(`${document}/${provider}`, key), at: Date.now(), by: documents.by ?? "" };
        return { after: written({ ...parse(text), [provider]: made }), result: undefined, sealedWith: sealing.check };
      });
    },
    remove: (provider) =>
      documents.takeBack(document, (text) => {
        const keys = parse(text);
        if (!Object.hasOwn(keys, provider)) return { result: false };
        const others = Object.entries(keys).filter(([name]) => name !== provider);
        return { after: written(Object.fromEntries(others)), result: true };
      }),
  };
}
