import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";

import { seen } from "../../../test/support/engine-kit.ts";
import { openProcessIn } from "../../../test/support/stores.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { fakeClock } from "../../engine/fake-clock.ts";
import { issueTicket, redeemTicket, type TicketContext } from "./tickets.ts";

const [one, two] = ["op-1", "op-2"];

/** Each call opens the same store once more, as another process would. */
function opened(t: TestContext) {
  const [folder, clock] = [tempFolder(t), fakeClock()];
  const open = (): TicketContext => {
    const { store, committed } = openProcessIn(folder);
    t.after(() => store.close());
    return { records: store.records, committed, clock };
  };
  return { folder, clock, open };
}

test("a ticket is accepted once, for the operator session it was issued to", async (t) => {
  const tickets = opened(t).open();
  const { ticket } = await issueTicket(tickets, { sid: one, api_key: "key_a" });
  assert.match(ticket, /^ti-[0-9a-f]{32}$/);
  assert.equal(await redeemTicket(tickets, { sid: one, ticket }), true);
  assert.equal(await redeemTicket(tickets, { sid: one, ticket }), false);
  assert.equal(await redeemTicket(tickets, { sid: one, ticket: `ti-${"0".repeat(32)}` }), false);
});

test("a ticket shown for another operator session is refused and used up", async (t) => {
  const tickets = opened(t).open();
  const { ticket } = await issueTicket(tickets, { sid: one, api_key: "key_a" });
  assert.equal(await redeemTicket(tickets, { sid: two, ticket }), false);
  assert.equal(await redeemTicket(tickets, { sid: one, ticket }), false);
});

test("a ticket expires after half a minute", async (t) => {
  const { open, clock } = opened(t);
  const tickets = open();
  const { ticket, expires_at } = await issueTicket(tickets, { sid: one, api_key: "key_a" });
  assert.equal(expires_at, clock.now() + 30_000);
  clock.advance(30_000);
  assert.equal(await redeemTicket(tickets, { sid: one, ticket }), false);
});

test("a ticket issued by one process is accepted by another, after a restart too", async (t) => {
  const { open } = opened(t);
  const { ticket } = await issueTicket(open(), { sid: one, api_key: "key_a" });
  assert.equal(await redeemTicket(open(), { sid: one, ticket }), true);
});

test("a ticket shown to several processes at once is accepted by one of them", async (t) => {
  const { open } = opened(t);
  const processes = [open(), open(), open()];
  const { ticket } = await issueTicket(open(), { sid: one, api_key: "key_a" });
  const shown = processes.flatMap((each) => [each, each]);
  const accepted = await Promise.all(shown.map((each) => redeemTicket(each, { sid: one, ticket })));
  assert.equal(accepted.filter(Boolean).length, 1);
});

test("the store holds a digest of the ticket, not the ticket", async (t) => {
  const { open, folder } = opened(t);
  const { ticket } = await issueTicket(open(), { sid: one, api_key: "key_a" });
  const rows = seen(folder, "SELECT * FROM tickets");
  assert.equal(rows.length, 1);
  assert.doesNotMatch(JSON.stringify(rows), new RegExp(ticket.slice(3)));
});

test("expired tickets are dropped, and so are the oldest when there are too many", async (t) => {
  const { open, folder, clock } = opened(t);
  const tickets = open();
  const first = await issueTicket(tickets, { sid: one, api_key: "key_a" });
  clock.advance(1);
  const issued = await Promise.all(
    Array.from({ length: 1024 }, () => issueTicket(tickets, { sid: one, api_key: "key_a" })),
  );
  assert.equal(seen(folder, "SELECT 1 FROM tickets").length, 1024);
  assert.equal(await redeemTicket(tickets, { sid: one, ticket: first.ticket }), false);
  assert.equal(await redeemTicket(tickets, { sid: one, ticket: issued.at(-1)?.ticket ?? "" }), true);
  clock.advance(60_000);
  await issueTicket(tickets, { sid: one, api_key: "key_a" });
  assert.equal(seen(folder, "SELECT 1 FROM tickets").length, 1);
});
