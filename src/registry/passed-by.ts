import { sameName } from '../models/resolve.ts';
import type { SetupIssue } from '../schema/registry.ts';
import type { ReadinessInput } from './readiness.ts';

export const leaveProvider = 'reins config unset default-provider';

/**
 * Says that a registered backend serves the default model and is never asked, since it is not of the default provider's
 * type; null where none is known to.
 */
export function passedBy({ defaults, probed }: Pick<ReadinessInput, 'defaults' | 'probed'>): string | null {
  const { provider, model } = defaults;
  if (provider === '') return null;
  const other = probed.find(
    ({ check, seen, registered }) =>
      registered &&
      check.type !== provider &&
      check.type !== 'scripted' &&
      check.status === 'ready' &&
      seen.models.some(({ name }) => sameName(seen.type, name, model)),
  );
  if (other === undefined) return null;
  return `The backend "${other.check.name}" serves "${model}", and default-provider = ${provider} keeps it from being asked.`;
}

const mended: ReadonlySet<SetupIssue['code']> = new Set<SetupIssue['code']>([
  'default_provider_backend_missing',
  'default_provider_api_key_missing',
  'default_provider_auth_failed',
  'default_provider_unreachable',
  'no_chat_models',
  'default_model_not_available',
]);

/** Issues that another backend would mend name it first. */
export function namingPassedBy(
  issues: readonly SetupIssue[],
  input: Pick<ReadinessInput, 'defaults' | 'probed'>,
): readonly SetupIssue[] {
  const words = passedBy(input);
  if (words === null) return issues;
  return issues.map((issue) =>
    mended.has(issue.code) ? { ...issue, message: `${words} ${issue.message}`, cliCommand: leaveProvider } : issue,
  );
}
