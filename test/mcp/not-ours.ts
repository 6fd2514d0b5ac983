// The cases of the conformance suite that are not Tutti's, each with the reason. A case that passes does not belong here.

const onlyTools =
  "Tutti's server offers tools of its own and nothing else: neither resources, prompts, completions nor a log level";
const suiteTool = "the case calls a tool that the suite wants a server to have; Tutti's server has only its own";
const asksNobody = "Tutti's server never asks its client: it has no sampling and no elicitation";

export const notOurs: Readonly<Record<"client" | "server", Readonly<Record<string, string>>>> = {
  client: {
    "auth/basic-cimd":
      "Tutti has no public address at which its client metadata could lie; it registers itself instead",
    "auth/2025-03-26-oauth-metadata-backcompat": "of a revision before those that Tutti states for its client",
    "auth/client-credentials-jwt": "an extension that Tutti does not state: keys for client credentials",
    "auth/cross-app-access-complete-flow":
      "an extension that Tutti does not state: logins through an identity provider",
  },
  server: {
    "logging-set-level": onlyTools,
    "completion-complete": onlyTools,
    "tools-call-simple-text": suiteTool,
    "tools-call-image": suiteTool,
    "tools-call-audio": suiteTool,
    "tools-call-embedded-resource": suiteTool,
    "tools-call-mixed-content": suiteTool,
    "tools-call-with-logging": suiteTool,
    "tools-call-error": suiteTool,
    "tools-call-with-progress": suiteTool,
    "tools-call-sampling": asksNobody,
    "tools-call-elicitation": asksNobody,
    "json-schema-2020-12": suiteTool,
    "elicitation-sep1034-defaults": asksNobody,
    "elicitation-sep1330-enums": asksNobody,
    "resources-list": onlyTools,
    "resources-read-text": onlyTools,
    "resources-read-binary": onlyTools,
    "resources-templates-read": onlyTools,
    "resources-subscribe": onlyTools,
    "resources-unsubscribe": onlyTools,
    "prompts-list": onlyTools,
    "prompts-get-simple": onlyTools,
    "prompts-get-with-args": onlyTools,
    "prompts-get-embedded-resource": onlyTools,
    "prompts-get-with-image": onlyTools,
  },
};
