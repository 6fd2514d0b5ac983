// A label of a node, which work can ask for.

import { z } from "zod";

export const NodeLabel = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._:/=-]{0,100}$/);
export const NodeLabelList = z.array(NodeLabel).max(50);

/** Labels that a node finds out by itself, so nobody can give them to one. */
export const isOwnLabel = (label: string): boolean => /^(?:project|schema|runner):/.test(label);
