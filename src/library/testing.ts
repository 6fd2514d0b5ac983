// The public surface of `tutti/testing`: models that play a script, time that a test moves, crashes at a step, transcripts.

export { type CrashOptions, crashAt } from "./testing/crash-at.ts";
export { call, fails, final, say, script, type ScriptedTurn } from "./testing/script.ts";
export { assertCalled, type Transcript, type TranscriptCall, transcriptOf } from "./testing/run-transcript.ts";
export { type FakeClock, fakeClock } from "../engine/fake-clock.ts";
