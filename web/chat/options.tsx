import { useState } from 'react';
import { client } from '../data/client.ts';
import { useData } from '../data/use-data.ts';
import { useEverywhere } from '../frame/everywhere.ts';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { SelectField } from '../parts/field.tsx';
import { Instructions } from '../parts/instructions.tsx';
import type { SendOptions } from './kept.ts';

/** Model, chain and policy of the next message; what differs from the standard is marked. */
export function OptionsButton({
  options,
  onOptions,
}: {
  readonly options: SendOptions;
  readonly onOptions: (options: SendOptions) => void;
}) {
  const [open, setOpen] = useState(false);
  const { setup, policy } = useEverywhere();
  const scripted = setup.value?.defaultProvider === 'scripted' ? ' (scripted)' : '';
  const shown = [
    options.model ?? `${setup.value?.defaultModel ?? 'model'}${scripted}`,
    options.chain ?? 'standard chain',
    `policy ${options.policy ?? policy?.name ?? '-'}`,
    ...(options.shell === true ? ['with commands'] : []),
  ];
  const changed = Object.keys(options).length > 0;
  return (
    <>
      <Button look="quiet" size="small" onClick={() => setOpen(true)}>
        <span className="cut">{shown.join(' · ')}</span>
        {changed ? <span className="tag accent">changed</span> : null}
      </Button>
      {open ? <Options options={options} onOptions={onOptions} onClose={() => setOpen(false)} /> : null}
    </>
  );
}

function Options({
  options,
  onOptions,
  onClose,
}: {
  readonly options: SendOptions;
  readonly onOptions: (options: SendOptions) => void;
  readonly onClose: () => void;
}) {
  const models = useData('models', () => client.pageModels({}));
  const chains = useData('chains', () => client.pageChains({}));
  const policies = useData('policies', () => client.pagePolicies({}));
  const change = (name: 'model' | 'chain' | 'policy', value: string) => {
    const { [name]: _, ...rest } = options;
    onOptions(value === '' ? rest : { ...rest, [name]: value });
  };
  const names = (list: readonly string[]) => [...new Set(list)].map((name) => [name, name] as const);
  return (
    <Dialog
      title="For the next messages"
      onClose={onClose}
      foot={
        <>
          <Button onClick={() => onOptions({})}>Back to the standard</Button>
          <Button look="primary" onClick={onClose}>
            Done
          </Button>
        </>
      }
    >
      <SelectField
        label="Model"
        value={options.model ?? ''}
        onChange={(event) => change('model', event.target.value)}
        options={[['', 'standard'], ...names((models.value?.items ?? []).map(({ model }) => model))]}
      />
      <SelectField
        label="Chain"
        value={options.chain ?? ''}
        onChange={(event) => change('chain', event.target.value)}
        options={[['', 'standard'], ...names((chains.value ?? []).map(({ file }) => file.replace(/\.json$/, '')))]}
      />
      <label className="row">
        <input
          type="checkbox"
          checked={options.shell === true}
          onChange={({ target }) => {
            const { shell: _, ...rest } = options;
            onOptions(target.checked ? { ...rest, shell: true } : rest);
          }}
        />
        Offer commands (local_shell), where the server was started with --shell
      </label>
      <SelectField
        label="Policy"
        value={options.policy ?? ''}
        onChange={(event) => change('policy', event.target.value)}
        options={[['', 'standard'], ...names((policies.value ?? []).map(({ name }) => name))]}
      />
      <Instructions chain={options.chain} policy={options.policy} />
    </Dialog>
  );
}
