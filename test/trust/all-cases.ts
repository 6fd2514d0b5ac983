// All cases of both kinds.

import { changedChecks } from "./cases/changed-checks.ts";
import { claimsAndReviews } from "./cases/claims-and-reviews.ts";
import { criteriaInWords } from "./cases/criteria-in-words.ts";
import { honestCode } from "./cases/honest-code.ts";
import { honestRest } from "./cases/honest-rest.ts";
import { manyAndOdd } from "./cases/many-and-odd.ts";
import { speakingForChecks } from "./cases/speaking-for-checks.ts";
import type { HostileCase, TrustCase } from "./trust-case.ts";

export const hostileCases: readonly HostileCase[] = [
  ...criteriaInWords,
  ...changedChecks,
  ...speakingForChecks,
  ...claimsAndReviews,
  ...manyAndOdd,
];

export const honestCases: readonly TrustCase[] = [...honestCode, ...honestRest];
