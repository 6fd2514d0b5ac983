// All cases of both kinds.

import { changedChecks } from "./cases/changed-checks.ts";
import { claimsAndReviews } from "./cases/claims-and-reviews.ts";
import { criteriaInWords } from "./cases/criteria-in-words.ts";
import { honestCode } from "./cases/honest-code.ts";
import { honestRest } from "./cases/honest-rest.ts";
import { manyAndOdd } from "./cases/many-and-odd.ts";
import { onlyUnderTest } from "./cases/only-under-test.ts";
import { settingsAndNames } from "./cases/settings-and-names.ts";
import { speakingForChecks } from "./cases/speaking-for-checks.ts";
import { tamperedTools } from "./cases/tampered-tools.ts";
import { togetherAndTold } from "./cases/together-and-told.ts";
import type { HostileCase, TrustCase } from "./trust-case.ts";

export const hostileCases: readonly HostileCase[] = [
  ...criteriaInWords,
  ...changedChecks,
  ...speakingForChecks,
  ...claimsAndReviews,
  ...manyAndOdd,
  ...onlyUnderTest,
  ...tamperedTools,
  ...settingsAndNames,
  ...togetherAndTold,
];

export const honestCases: readonly TrustCase[] = [...honestCode, ...honestRest];
