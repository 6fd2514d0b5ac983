// Reads a handoff envelope from TOON, JSON or a plain value.

import { anyCell, flagCell, listCell, numberCell, openCells, openSection, textCell, type Cells } from "./cells.ts";
import { openDocument } from "./document.ts";
import { handoffFields } from "./fields.ts";
import type { Handoff } from "./handoff.ts";
import { finish, newNotes, type Read } from "./read-notes.ts";

const { context: contextFields, out: outFields, criteria: criteriaFields } = handoffFields.section;

/** Never throws. What it yields is a `Handoff`; whether that is enough to be routed is the policy's to say. */
export function readHandoff(input: unknown): Read<Handoff> {
  const notes = newNotes("handoff");
  const handoff: Handoff = {};
  const document = openDocument(input, handoffFields, notes);
  if (document === undefined) return finish(notes, handoff);
  const cells = openCells(handoffFields, document.value, { path: "", toon: document.toon, notes });
  for (const name of handoffFields.text) {
    const value = textCell(cells, name);
    if (value !== undefined) handoff[name] = value;
  }
  for (const name of handoffFields.list) {
    const value = listCell(cells, name);
    if (value !== undefined) handoff[name] = value;
  }
  for (const name of handoffFields.number) {
    const value = numberCell(cells, name);
    if (value !== undefined) handoff[name] = value;
  }
  for (const name of handoffFields.any) {
    const value = anyCell(cells, name);
    if (value !== undefined) handoff[name] = value;
  }
  if (cells.found.has("context")) handoff.context = readContext(cells);
  if (cells.found.has("out")) handoff.out = readOut(cells);
  if (cells.found.has("criteria")) handoff.criteria = readCriteria(cells);
  return finish(notes, handoff);
}

function readContext(handoff: Cells): NonNullable<Handoff["context"]> {
  const cells = openSection(handoff, "context", contextFields);
  const context: NonNullable<Handoff["context"]> = {};
  const state = textCell(cells, "state");
  if (state !== undefined) context.state = state;
  const refs = listCell(cells, "refs");
  if (refs !== undefined) context.refs = refs;
  return context;
}

function readOut(handoff: Cells): NonNullable<Handoff["out"]> {
  const cells = openSection(handoff, "out", outFields);
  const out: NonNullable<Handoff["out"]> = {};
  for (const name of outFields.text) {
    const value = textCell(cells, name);
    if (value !== undefined) out[name] = value;
  }
  for (const name of outFields.list) {
    const value = listCell(cells, name);
    if (value !== undefined) out[name] = value;
  }
  for (const name of outFields.flag) {
    const value = flagCell(cells, name);
    if (value !== undefined) out[name] = value;
  }
  for (const name of outFields.any) {
    const value = anyCell(cells, name);
    if (value !== undefined) out[name] = value;
  }
  return out;
}

function readCriteria(handoff: Cells): NonNullable<Handoff["criteria"]> {
  const cells = openSection(handoff, "criteria", criteriaFields);
  const criteria: NonNullable<Handoff["criteria"]> = {};
  for (const name of criteriaFields.list) {
    const value = listCell(cells, name);
    if (value !== undefined) criteria[name] = value;
  }
  return criteria;
}
