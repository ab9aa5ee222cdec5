import type { ModuleName } from './command.ts';
import type { CommandModule } from './context.ts';

/** The module of each command, imported when it is chosen (06 §1.2). */
export const modules: Readonly<Record<ModuleName, () => Promise<CommandModule>>> = {
  approvals: () => import('./commands/approvals.ts'),
  'approvals-watch': () => import('./commands/approvals-watch.ts'),
  audit: () => import('./commands/audit.ts'),
  backend: () => import('./commands/backend.ts'),
  chain: () => import('./commands/chain.ts'),
  chat: () => import('./commands/chat.ts'),
  completion: () => import('./commands/completion.ts'),
  config: () => import('./commands/config.ts'),
  demo: () => import('./commands/demo.ts'),
  doctor: () => import('./commands/doctor.ts'),
  help: () => import('./commands/help.ts'),
  init: () => import('./commands/init.ts'),
  model: () => import('./commands/model.ts'),
  policy: () => import('./commands/policy.ts'),
  'policy-compare': () => import('./commands/policy-compare.ts'),
  'policy-explain': () => import('./commands/policy-explain.ts'),
  'policy-import': () => import('./commands/policy-import.ts'),
  'policy-suggest': () => import('./commands/policy-suggest.ts'),
  'policy-cases': () => import('./commands/policy-cases.ts'),
  'policy-trust': () => import('./commands/policy-trust.ts'),
  resume: () => import('./commands/resume.ts'),
  run: () => import('./commands/run.ts'),
  session: () => import('./commands/session.ts'),
  state: () => import('./commands/state.ts'),
  'state-show': () => import('./commands/state-show.ts'),
  trust: () => import('./commands/trust.ts'),
  version: () => import('./commands/version.ts'),
};
