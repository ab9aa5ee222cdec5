import type { ModelFailure } from '../models/model.ts';
import { isProviderType, providerTable } from '../models/providers.ts';
import type { BackendRow } from '../store/registry.ts';

/** The reason of a failure where the backend is named beside it: `connection refused`, `401: invalid key`. */
export const shortReason = (message: string): string =>
  message.replace(/^(?:cannot reach backend "[^"]*" at \S+: |backend "[^"]*":? (?:answered (?=\d))?)/, '');

/** What a person can do about a backend that failed; null when nothing general can be said. */
export function hintFor(backend: BackendRow, failure: ModelFailure): string | null {
  const variable = isProviderType(backend.type) ? providerTable[backend.type].keyVariable : null;
  switch (failure.class) {
    case 'connect':
      return backend.type === 'ollama'
        ? 'Is the server running? Start it with: ollama serve'
        : 'Is the server running?';
    case 'timeout':
      return 'The server did not answer in time; is it busy loading a model?';
    case 'auth':
      if (backend.key_env !== null && failure.status === undefined) return `export ${backend.key_env}=…`;
      return `reins backend update ${backend.name} --api-key-env ${backend.key_env ?? variable ?? '<VAR>'}`;
    case 'permission':
      return `reins backend update ${backend.name} --api-key-env ${backend.key_env ?? variable ?? '<VAR>'}`;
    case 'malformed':
    case 'invalid_request':
      return backend.type === 'scripted'
        ? `Is the file right? reins backend update ${backend.name} --url <file>`
        : `Is the URL right? reins backend show ${backend.name}`;
    default:
      return null;
  }
}
