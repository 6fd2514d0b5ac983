// The cases of the conformance suite that are not Tutti's, each with the reason. A case that passes does not belong here.

const asksNobody =
  "Tutti's server never asks its client for anything in the middle of a call: a model waits with `task_wait` and answers with `ask_answer`";
const noSessions =
  "Tutti's server has no sessions in any revision, so it cannot send what nobody is waiting for: a client asks again instead";
const noTasks = "an extension that Tutti does not state: tasks of the protocol; Tutti's own tasks are reached by tools";
const noLogin = (what: string): string => `an extension that Tutti does not state: ${what}`;

export const notOurs: Readonly<Record<"client" | "server", Readonly<Record<string, string>>>> = {
  client: {
    "auth/basic-cimd":
      "Tutti runs on the person's machine and has no public address at which its client metadata could lie; it registers itself instead",
    "auth/client-credentials-jwt": noLogin("client credentials with a key of one's own"),
    "auth/enterprise-managed-authorization": noLogin("logins through an identity provider of an enterprise"),
    "auth/dpop": noLogin("tokens that are bound to a key"),
    "auth/dpop-nonce": noLogin("tokens that are bound to a key"),
    "auth/wif-jwt-bearer": noLogin("identities of workloads"),
  },
  server: {
    "tools-call-sampling": asksNobody,
    "tools-call-elicitation": asksNobody,
    "elicitation-sep1034-defaults": asksNobody,
    "elicitation-sep1330-enums": asksNobody,
    "resources-subscribe": noSessions,
    "resources-unsubscribe": noSessions,
    "input-required-result-basic-elicitation": asksNobody,
    "input-required-result-basic-sampling": asksNobody,
    "input-required-result-basic-list-roots": asksNobody,
    "input-required-result-request-state": asksNobody,
    "input-required-result-multiple-input-requests": asksNobody,
    "input-required-result-multi-round": asksNobody,
    "input-required-result-non-tool-request": asksNobody,
    "input-required-result-result-type": asksNobody,
    "input-required-result-capability-check": asksNobody,
    "input-required-result-tampered-state": asksNobody,
    "tasks-lifecycle": noTasks,
    "tasks-capability-negotiation": noTasks,
    "tasks-wire-fields": noTasks,
    "tasks-request-state-removal": noTasks,
    "tasks-mrtr-input": noTasks,
    "tasks-request-headers": noTasks,
    "tasks-dispatch-and-envelope": noTasks,
    "tasks-required-task-error": noTasks,
    "tasks-mrtr-composition": noTasks,
  },
};
