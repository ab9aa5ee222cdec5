import {
  array,
  boolean,
  enums,
  type Infer,
  nullable,
  number,
  object,
  optional,
  size,
  string,
  type,
  union,
} from 'superstruct';
import { Plan, PlanHead, planStatuses } from '../../schema/plan.ts';
import type { Known } from '../../schema/shape.ts';
import { count, page, text } from '../fields.ts';
import { masked, returns, route, shown } from '../operation.ts';

/** A plan as pages read it: with the text of its file, and whether its steps follow one another by themselves. */
export const PlanShown = type({ ...Plan.schema, markdown: string(), auto: boolean() });
export type PlanShown = Infer<typeof PlanShown>;

const PlanListed = type({ ...PlanHead.schema, auto: boolean() });
const Started = object({ run_id: string() });

/** How a planning stands that this server has started: one run follows another until there is a plan. */
export const PlanningShown = object({
  state: enums(['running', 'done', 'failed']),
  phase: enums(['explore', 'plan', 'repair']),
  /** The run that is going or was the last. */
  run_id: string(),
  plan: nullable(string()),
  /** Steps that were added. */
  added: number(),
  /** What the planner asks in the place of steps. */
  question: nullable(string()),
  warnings: array(string()),
  error: nullable(object({ code: string(), message: string(), answer: nullable(string()) })),
});
export type PlanningShown = Known<typeof PlanningShown>;

const PlanningUnderWay = object({
  /** Its first run. */
  run_id: string(),
  goal: nullable(string()),
  plan: nullable(string()),
});

/** Name of a plan; `active` stands for the one that the pointer names. */
const named = { name: string() };
const step = { ...named, ordinal: count(1, 1_000_000) };

/** Plans (09 §6.5). */
export const planRoutes = {
  /** Last changed first, without steps. */
  pagePlans: route(
    'GET',
    '/api/plans',
    'any',
    object({ status: optional(enums(planStatuses)), ...page }),
    shown(object({ items: array(PlanListed), next_cursor: nullable(string()) })),
  ),
  /** With `steps` no model is called and the plan is there at once. */
  postPlan: route(
    'POST',
    '/api/plans',
    'any',
    object({
      goal: text(64 * 1024),
      steps: optional(array(string())),
      explore: optional(boolean()),
      model: optional(string()),
      provider: optional(string()),
      policy: optional(string()),
    }),
    masked(union([PlanShown, Started])),
    {
      status: { among: [201, 202], of: (made) => ('run_id' in made ? 202 : 201) },
      repeatable: true,
      accessFor: ({ policy }) => (policy === undefined ? null : 'operator'),
    },
  ),
  /** Plannings of this server that go on, whoever began them: for a new plan of a goal, or of one that is there. */
  listPlannings: route('GET', '/api/plannings', 'any', object({}), masked(array(PlanningUnderWay)), { form: 'items' }),
  /** What became of a planning, by the id of any of its runs. */
  getPlanning: route('GET', '/api/plans/planning/{run_id}', 'any', object({ run_id: string() }), shown(PlanningShown)),
  postExplore: route('POST', '/api/plans/{name}/explore', 'any', object(named), shown(Started), {
    status: 202,
    repeatable: true,
  }),
  getPlan: route('GET', '/api/plans/{name}', 'any', object(named), masked(PlanShown)),
  activatePlan: route('POST', '/api/plans/{name}/activate', 'any', object(named), masked(PlanShown)),
  /** With `auto` the following steps are further runs, until one fails or the plan is stopped. */
  postNext: route(
    'POST',
    '/api/plans/{name}/next',
    'any',
    object({
      ...named,
      auto: optional(boolean()),
      shell: optional(boolean()),
      policy: optional(string()),
      timeout_s: optional(count(1, 86_400)),
    }),
    shown(object({ run_id: string(), ordinal: number() })),
    {
      status: 202,
      repeatable: true,
      accessFor: ({ shell, policy }) => (shell === true || policy !== undefined ? 'operator' : null),
    },
  ),
  postReplan: route(
    'POST',
    '/api/plans/{name}/replan',
    'any',
    object({ ...named, instruction: optional(size(string(), 0, 20_000)) }),
    shown(Started),
    { status: 202, repeatable: true },
  ),
  postRetry: route('POST', '/api/plans/{name}/steps/{ordinal}/retry', 'any', object(step), masked(PlanShown)),
  postSkip: route('POST', '/api/plans/{name}/steps/{ordinal}/skip', 'any', object(step), masked(PlanShown)),
  /** Ends `auto` and cancels the run of the step that is worked on. */
  stopPlan: route('POST', '/api/plans/{name}/stop', 'any', object(named), masked(PlanShown)),
  removePlan: route('DELETE', '/api/plans/{name}', 'operator', object(named), returns<null>(), { status: 204 }),
  /** Deletes what is completed or archived. */
  removeDonePlans: route('POST', '/api/plans/clean', 'operator', object({}), shown(object({ removed: number() }))),
} as const;
