// Reads a handoff envelope from TOON, JSON or a plain value.

import {
  anyField,
  flagField,
  listField,
  numberField,
  openFields,
  openSection,
  textField,
  type SectionFields,
} from "./read-fields.ts";
import { openDocument } from "./document.ts";
import { handoffFields } from "./field-tables.ts";
import type { Handoff } from "./handoff.ts";
import { finish, newNotes, type Read } from "./read-notes.ts";

const { context: contextFields, out: outFields, criteria: criteriaFields } = handoffFields.section;

/** Never throws. Whether the handoff is complete enough to be routed depends on the policy and is not checked here. */
export function readHandoff(input: unknown): Read<Handoff> {
  const notes = newNotes("handoff");
  const handoff: Handoff = {};
  const document = openDocument(input, handoffFields, notes);
  if (document === undefined) return finish(notes, handoff);
  const fields = openFields(handoffFields, document.value, { path: "", toon: document.toon, notes });
  for (const name of handoffFields.text) {
    const value = textField(fields, name);
    if (value !== undefined) handoff[name] = value;
  }
  for (const name of handoffFields.list) {
    const value = listField(fields, name);
    if (value !== undefined) handoff[name] = value;
  }
  for (const name of handoffFields.number) {
    const value = numberField(fields, name);
    if (value !== undefined) handoff[name] = value;
  }
  for (const name of handoffFields.any) {
    const value = anyField(fields, name);
    if (value !== undefined) handoff[name] = value;
  }
  if (fields.found.has("context")) handoff.context = readContext(fields);
  if (fields.found.has("out")) handoff.out = readOut(fields);
  if (fields.found.has("criteria")) handoff.criteria = readCriteria(fields);
  return finish(notes, handoff);
}

function readContext(handoff: SectionFields): NonNullable<Handoff["context"]> {
  const fields = openSection(handoff, "context", contextFields);
  const context: NonNullable<Handoff["context"]> = {};
  const state = textField(fields, "state");
  if (state !== undefined) context.state = state;
  const refs = listField(fields, "refs");
  if (refs !== undefined) context.refs = refs;
  return context;
}

function readOut(handoff: SectionFields): NonNullable<Handoff["out"]> {
  const fields = openSection(handoff, "out", outFields);
  const out: NonNullable<Handoff["out"]> = {};
  for (const name of outFields.text) {
    const value = textField(fields, name);
    if (value !== undefined) out[name] = value;
  }
  for (const name of outFields.list) {
    const value = listField(fields, name);
    if (value !== undefined) out[name] = value;
  }
  for (const name of outFields.flag) {
    const value = flagField(fields, name);
    if (value !== undefined) out[name] = value;
  }
  for (const name of outFields.any) {
    const value = anyField(fields, name);
    if (value !== undefined) out[name] = value;
  }
  return out;
}

function readCriteria(handoff: SectionFields): NonNullable<Handoff["criteria"]> {
  const fields = openSection(handoff, "criteria", criteriaFields);
  const criteria: NonNullable<Handoff["criteria"]> = {};
  for (const name of criteriaFields.list) {
    const value = listField(fields, name);
    if (value !== undefined) criteria[name] = value;
  }
  return criteria;
}
