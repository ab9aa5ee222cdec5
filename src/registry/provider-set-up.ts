import { RuntimeError } from '../schema/errors.ts';
import type { ProviderType } from '../schema/registry.ts';
import type { Backends } from './backends.ts';
import type { Models } from './models.ts';
import { leaveProvider } from './passed-by.ts';
import type { Settings } from './settings.ts';

export type ProviderSetUpDeps = {
  readonly settings: Pick<Settings, 'getConfig' | 'setConfig' | 'unsetConfig'>;
  readonly backends: Pick<Backends, 'addBackend' | 'listBackends'>;
  readonly models: Pick<Models, 'listModels'>;
};

type Setting = { readonly key: string; readonly value: string };

type SetUp = {
  /** Those that were not set so already. */
  readonly settings: readonly Setting[];
  /** Next steps, for stderr. */
  readonly notes: readonly string[];
};

/** Types that `init` registers by itself, with the variable that their key is read from (06 §14.3). */
const byItself: Readonly<Partial<Record<ProviderType, string | null>>> = {
  ollama: null,
  scripted: null,
  openai: 'OPENAI_API_KEY',
  gemini: 'GEMINI_API_KEY',
  anthropic: 'ANTHROPIC_API_KEY',
};

/** What `init <provider>` sets and registers; a type that needs a URL only gets the command that adds it. */
export function createProviderSetUp(deps: ProviderSetUpDeps) {
  return async (provider: string): Promise<SetUp> => {
    // `init` has checked the word against the types.
    const type = provider as ProviderType;
    const wanted: Setting[] = [{ key: 'default-provider', value: provider }];
    if (type === 'scripted') wanted.push({ key: 'default-model', value: 'demo' });
    const notes = type === 'scripted' ? [] : await leaveDemo();
    const settings: Setting[] = [];
    for (const setting of wanted) {
      const { value, source } = await deps.settings.getConfig(setting);
      if (source === 'set' && value === setting.value) continue;
      await deps.settings.setConfig(setting);
      settings.push(setting);
    }
    if (type !== 'scripted') notes.push(...(await otherModel(type)));
    const keyVariable = byItself[type];
    if (keyVariable === undefined) notes.push(`reins backend add ${type} --type ${type} --url <url>`);
    else if (!(await isRegistered(type))) notes.push(...(await register(type, keyVariable)));
    return { settings, notes };
  };

  /** What `init scripted` has set is no model of any other provider. @returns notes for the operator */
  async function leaveDemo(): Promise<string[]> {
    const provider = await deps.settings.getConfig({ key: 'default-provider' });
    const model = await deps.settings.getConfig({ key: 'default-model' });
    if (provider.value !== 'scripted' || model.source !== 'set' || model.value !== 'demo') return [];
    await deps.settings.unsetConfig({ key: 'default-model' });
    return ['default-model = demo is no longer set: it is the model of the script'];
  }

  /** A default model that stays, and that only a backend of another type serves. @returns notes for the operator */
  async function otherModel(type: ProviderType): Promise<readonly string[]> {
    const { source, value: model } = await deps.settings.getConfig({ key: 'default-model' });
    if (source !== 'set') return [];
    const registered = (await deps.backends.listBackends()).filter(({ builtIn }) => !builtIn);
    // One of this type serves it perhaps: then nothing is said, and nobody is asked.
    if (registered.some((backend) => backend.type === type)) return [];
    // Together: each may take its whole time limit to say nothing.
    const lists = await Promise.all(
      registered.map(async (backend) => ({
        ...backend,
        rows: (await deps.models.listModels({ backend: backend.name, refresh: false })).rows,
      })),
    );
    for (const { name, type: other, rows } of lists) {
      if (!rows.some((row) => row.model === model && row.state === 'served')) continue;
      return [
        `default-model = ${model} stays; the backend "${name}" of type ${other} serves it, and is not asked any more: reins config set default-model <model>, or ${leaveProvider}`,
      ];
    }
    return [];
  }

  async function isRegistered(type: ProviderType): Promise<boolean> {
    return (await deps.backends.listBackends()).some((backend) => backend.type === type && !backend.builtIn);
  }

  /** @returns notes for the operator */
  async function register(type: ProviderType, keyVariable: string | null): Promise<readonly string[]> {
    try {
      const { warnings } = await deps.backends.addBackend({
        name: type,
        type,
        url: null,
        key_env: keyVariable,
        key_literal: null,
        headers: null,
        proxy: null,
        connect_timeout_ms: null,
        first_byte_timeout_ms: null,
        idle_timeout_ms: null,
      });
      return warnings;
    } catch (error) {
      if (!(error instanceof RuntimeError) || error.code !== 'already_exists') throw error;
      // Another `init` of this moment was first; or a backend of another type has the name, and the operator finds one.
      if (await isRegistered(type)) return [];
      const key = keyVariable === null ? '' : ` --api-key-env ${keyVariable}`;
      return [`reins backend add my-${type} --type ${type}${key}`];
    }
  }
}
