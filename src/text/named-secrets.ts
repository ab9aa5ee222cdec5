/** What stands for a value that is not written down. */
const hidden = '•••';

const names = /(?:^|[^a-z])(?:password|passwd|passphrase|token|secret|apikey|key|authorization)$/;

/** Whether a name says that its value is a credential: `password`, `db_password`, `accessToken`, `X-Api-Key`. */
const isSecret = (name: string): boolean => names.test(name.replaceAll(/([a-z0-9])(?=[A-Z])/g, '$1_').toLowerCase());

/** A JSON value without what stands under names of credentials, at any depth; what is masked already stays. */
export function withoutNamedSecrets(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(withoutNamedSecrets);
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      isSecret(name) ? hiddenValue(member) : withoutNamedSecrets(member),
    ]),
  );
}

/** Every text and number of it. */
function hiddenValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(hiddenValue);
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, hiddenValue(member)]));
  }
  if (typeof value === 'number') return hidden;
  return typeof value !== 'string' || value === '' || value.startsWith(hidden) || value === '(injected)'
    ? value
    : hidden;
}
