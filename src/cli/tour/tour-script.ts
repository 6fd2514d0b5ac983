// What is fixed in the tour: the person's goal, the script that plays the models, and the answers that the tour gives.
import type { RehearsalScript } from "../../protocol/invocation/rehearsal-script.ts";
import { initialPolicy } from "../../protocol/routing/default-policy.ts";

export const tourGoal = "Make all tests of this shopping cart pass.";
export const tourCheck = "node --test";
export const tourCriterion = `\`${tourCheck}\` passes`;
export const tourManager = "rehearsal/manager";

/** Every role is played by the script, whatever models are set up on this machine. */
const { policy, ...rest } = initialPolicy();
const roles = {
  router: "rehearsal/router",
  info: "rehearsal/reader",
  build: "rehearsal/builder",
  escalate_to: "rehearsal/router",
};
export const tourPolicy = JSON.stringify({ ...rest, policy: { ...policy, ...roles } });

const roundingQuestion = "A discount can leave half a cent. Should it be rounded down or up?";

/** The answer to each question that the script asks. */
export const tourAnswers: Readonly<Record<string, string>> = { [roundingQuestion]: "down" };

const tasks = [
  {
    id: "fix",
    prompt: "total() in lib/total.js forgets the quantity of an item. Repair it.",
    checks: ["node --test test/total.test.js"],
    conf: 0.95,
  },
  {
    id: "discount",
    prompt: "Write lib/discount.js: discounted(cents, percent) is the price without the discount.",
    after: ["fix"],
    checks: ["node --test test/discount.test.js"],
    conf: 0.9,
  },
  {
    id: "readme",
    prompt: "Say in README.md how the tests are run.",
    checks: ["grep npm README.md"],
    conf: 0.95,
  },
].map((task) => ({ ...task, workdir: ".", kind: "code_change" }));

const wrongTotal = "sum += price + quantity;";

const discount = `/** The price in cents after a discount. Half a cent is rounded down. */
export function discounted(cents, percent) {
  return Math.floor((cents * (100 - percent)) / 100);
}
`;

const readme = `# cart

Adds up what is in a shopping cart.

\`npm test\` runs the tests.
`;

/** The reviewer is another model than the author, and says of the task why it holds and where. */
function approving(task: string, why: string, where: string): RehearsalScript["rules"][number] {
  const points = [{ id: "task", met: true, why, where }];
  const review = { task, conf: 0.95, points, findings: [], gate: "approve" };
  return { agent: "_reviewer", last: `Review the work on the task ${task}`, final: { review } };
}

export const tourScript: RehearsalScript = {
  rules: [
    { agent: "manager", raw: JSON.stringify({ action: "delegate", tasks }) },
    {
      agent: "worker",
      turn: 0,
      last: "An earlier attempt at this task was not accepted",
      call: [{ tool: "edit", args: { path: "lib/total.js", old: wrongTotal, new: "sum += price * quantity;" } }],
    },
    {
      agent: "worker",
      turn: 0,
      last: "forgets the quantity",
      // The wrong repair, so that the check fails and the task gets a second attempt.
      call: [
        {
          tool: "edit",
          args: {
            path: "lib/total.js",
            old: "{ price } of items) sum += price;",
            new: `{ price, quantity } of items) ${wrongTotal}`,
          },
        },
      ],
    },
    {
      agent: "worker",
      turn: 0,
      last: "lib/discount.js",
      ask: { question: roundingQuestion, choices: ["down", "up"] },
    },
    {
      agent: "worker",
      turn: 1,
      last: "down",
      call: [{ tool: "write", args: { path: "lib/discount.js", content: discount } }],
    },
    {
      agent: "worker",
      turn: 1,
      last: "up",
      call: [
        {
          tool: "write",
          args: {
            path: "lib/discount.js",
            content: discount.replace("rounded down", "rounded up").replace("floor", "ceil"),
          },
        },
      ],
    },
    {
      agent: "worker",
      turn: 0,
      last: "README.md",
      call: [{ tool: "write", args: { path: "README.md", content: readme } }],
    },
    { agent: "worker", final: "I did what the task says." },
    approving("fix", "The sum multiplies each price by its quantity.", "lib/total.js"),
    approving("discount", "The function takes the discount off and rounds down.", "lib/discount.js"),
    approving("readme", "It names the command that runs the tests.", "README.md"),
  ],
};
