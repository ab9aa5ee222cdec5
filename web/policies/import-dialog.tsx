import { type FormEvent, useState } from 'react';
import { client } from '../data/client.ts';
import { useAction } from '../data/use-data.ts';
import { Button } from '../parts/button.tsx';
import { CodeBlock } from '../parts/code-block.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { AreaField, SelectField } from '../parts/field.tsx';
import { IsBack, useFormDraft } from '../parts/form-draft.tsx';
import { numbered } from '../parts/numbered.ts';
import { Safe } from '../parts/safe.tsx';
import { ErrorNote } from '../parts/states.tsx';
import { NewPolicyDialog } from './new-dialog.tsx';

const formats = [
  ['claude', 'Claude Code'],
  ['codex', 'Codex'],
  ['opencode', 'opencode'],
  ['gemini', 'Gemini CLI'],
] as const;
type Format = (typeof formats)[number][0];
const signs = { exact: '', narrowed: 'warn', dropped: 'danger', inert: '' } as const;

/** The settings of another program as a policy: the document and what was lost, before anything is written. */
export function ImportDialog({ onClose }: { readonly onClose: () => void }) {
  const draft = useFormDraft<{ from: Format; text: string }>('import', { from: 'claude', text: '' });
  const { from, text } = draft.fields;
  const [found, setFound] = useState<Awaited<ReturnType<typeof client.translatePolicy>> | null>(null);
  const [naming, setNaming] = useState(false);
  const translate = useAction(() => client.translatePolicy({ from, text }));
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setFound(await translate.run());
  };
  if (naming && found?.text != null) {
    return (
      <NewPolicyDialog
        title="Edit it as mine"
        from={{ text: found.text, name: `from-${from}` }}
        onOpened={draft.sent}
        onClose={onClose}
      />
    );
  }
  return (
    <Dialog title="Import a policy" onClose={onClose}>
      <form className="stack" onSubmit={(event) => void submit(event)}>
        <IsBack draft={draft} />
        <SelectField
          label="Written for"
          options={formats}
          value={from}
          // The options are these and no others.
          onChange={(event) => draft.change({ from: event.target.value as Format })}
        />
        <AreaField
          label="Its settings file"
          className="mono"
          rows={7}
          value={text}
          onChange={(event) => draft.change({ text: event.target.value })}
        />
        <Button submit busy={translate.busy} disabled={text.trim() === ''}>
          Translate
        </Button>
        {translate.error === null ? null : <ErrorNote error={translate.error} />}
      </form>
      {found === null ? null : (
        <div className="stack">
          <h3>What became of each line</h3>
          <ul className="stack tight" aria-label="Report">
            {numbered(found.report).map(({ key, part }) => (
              <li key={key} className="row">
                <span className={`tag ${signs[part.outcome]}`}>{part.outcome}</span>
                <span className="mono wrap">
                  <Safe text={part.text} />
                </span>
                <span className="muted small">
                  <Safe text={part.why} />
                </span>
              </li>
            ))}
          </ul>
          {found.text === null ? (
            <p>Nothing could be read.</p>
          ) : (
            <>
              <CodeBlock text={found.text} label="The policy" />
              <Button look="primary" onClick={() => setNaming(true)}>
                Edit it…
              </Button>
            </>
          )}
        </div>
      )}
    </Dialog>
  );
}
