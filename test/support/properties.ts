// Property tests begin from one seed, so that a failure can be repeated; `TUTTI_SEED=random` or a number chooses another.

import fc from "fast-check";

const given = process.env["TUTTI_SEED"];
const seed = given === undefined ? 20_261_116 : given === "random" ? undefined : Number(given);
if (seed !== undefined) fc.configureGlobal({ seed });

export default fc;
