import { isProviderType, providerTable } from '../models/providers.ts';
/** The line that registers a backend of a type, with its usual key variable. */
export function addCommand(name: string, type: string): string {
  const provider = isProviderType(type) ? providerTable[type] : null;
  const url = provider?.defaultUrl === null ? ' --url <url>' : '';
  const key = provider?.keyRequired === true ? ` --api-key-env ${provider.keyVariable}` : '';
  return `reins backend add ${name} --type ${type}${url}${key}`;
}
