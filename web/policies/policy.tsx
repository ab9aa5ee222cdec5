import { useRef, useState } from 'react';
import { Link, useSearchParams } from 'wouter';
import type { PolicyDocument } from '../../src/schema/document-views.ts';
import { client } from '../data/client.ts';
import { type Data, useData } from '../data/use-data.ts';
import { useChoice } from '../data/use-query.ts';
import type { CodeEditor } from '../editor/code-mirror.ts';
import {
  ChangeButtons,
  DocumentTags,
  DocumentText,
  isUnreadable,
  UnreadableDocument,
} from '../editor/document-parts.tsx';
import { hasDraft, useDraft } from '../editor/use-draft.ts';
import { useVetted } from '../editor/use-vetted.ts';
import { Button } from '../parts/button.tsx';
import { Page, Waiting } from '../parts/page.tsx';
import { Loaded } from '../parts/states.tsx';
import { Tabs } from '../parts/tabs.tsx';
import { CasesPanel } from './cases.tsx';
import { ExplainPanel } from './explain.tsx';
import { NewPolicyDialog } from './new-dialog.tsx';
import { ReplayPanel } from './replay.tsx';
import { RuleList } from './rules.tsx';
import { SavePolicy } from './save-policy.tsx';

/** One policy: its editor, and what it would decide (09 §8.10). */
export function PolicyPage({ file }: { readonly file: string }) {
  const [params] = useSearchParams();
  // The links of the list are written with these words.
  const source = params.get('source') as PolicyDocument['source'] | null;
  const isNew = params.get('new') !== null && hasDraft(`policy:new:${file}`);
  const data = useData(
    `policy ${file} ${source ?? ''} ${isNew}`,
    async (): Promise<PolicyDocument | 'new'> => {
      if (isNew) return 'new';
      return client.getPolicy({ file, ...(source === null ? {} : { source }) });
    },
    { topics: ['documents'], files: true },
  ) as Data<PolicyDocument | 'new'>;
  if (data.value === null) return <Waiting title={file} data={data} way={<Link href="/policies">All policies</Link>} />;
  return (
    <Loaded data={data}>
      {(read) =>
        read !== 'new' && isUnreadable(read) ? (
          <UnreadableDocument file={file} read={read} onRetry={data.reload} />
        ) : (
          <Editor
            key={`${read === 'new' ? read : read.source} ${file}`}
            file={file}
            read={read === 'new' ? null : read}
            onSaved={data.reload}
          />
        )
      }
    </Loaded>
  );
}

const tabs = [
  { id: 'explain', label: 'Explain' },
  { id: 'rules', label: 'Rules' },
  { id: 'replay', label: 'Replay' },
  { id: 'test', label: 'Test' },
] as const;

function Editor({
  file,
  read,
  onSaved,
}: {
  readonly file: string;
  readonly read: PolicyDocument | null;
  readonly onSaved: () => void;
}) {
  const draft = useDraft(`policy:${read?.source ?? 'new'}:${file}`, read);
  const vetted = useVetted(draft.text, (text) => client.vetPolicyText({ text }));
  const [tab, setTab] = useChoice(
    'tab',
    tabs.map(({ id }) => id),
    'explain',
  );
  const [open, setOpen] = useState<'save' | 'copy' | null>(null);
  const handle = useRef<CodeEditor | null>(null);
  const findings = vetted.value?.findings ?? read?.findings ?? [];
  const preset = read?.source === 'builtin';
  const name = /^hitl-policy-(.+)\.json$/.exec(file)?.[1] ?? 'mine';
  return (
    <Page
      title={file}
      actions={
        <>
          {draft.dirty ? <span className="tag warn">not saved</span> : null}
          {preset ? (
            <Button look="primary" onClick={() => setOpen('copy')}>
              Copy to mine
            </Button>
          ) : (
            <ChangeButtons draft={draft} vetted={vetted} onSave={() => setOpen('save')} />
          )}
        </>
      }
    >
      <DocumentTags
        origin={preset ? 'preset, cannot be changed' : (read?.source ?? 'new')}
        trusted={read?.trusted ?? true}
        outdated={draft.outdated}
      />
      <div className="work">
        <DocumentText
          text={draft.text}
          label={`Text of ${file}`}
          findings={findings}
          fault={vetted.fault}
          readOnly={preset}
          onChange={draft.setText}
          handle={handle}
        />
        <Tabs label="What the policy decides" selected={tab} onSelect={setTab} tabs={tabs}>
          {tab === 'explain' ? <ExplainPanel text={draft.text} onRule={(path) => handle.current?.goTo(path)} /> : null}
          {tab === 'rules' ? (
            <RuleList
              text={draft.text}
              readOnly={preset}
              onChange={draft.setText}
              onGo={(path) => handle.current?.goTo(path)}
            />
          ) : null}
          {tab === 'replay' ? <ReplayPanel text={draft.text} /> : null}
          {tab === 'test' ? <CasesPanel name={file} text={draft.text} /> : null}
        </Tabs>
      </div>
      {open === 'copy' ? (
        <NewPolicyDialog title="Copy to mine" from={{ text: draft.text, name }} onClose={() => setOpen(null)} />
      ) : null}
      {open === 'save' ? (
        <SavePolicy
          file={file}
          source={read === null || read.source === 'builtin' ? null : read.source}
          draft={draft}
          onClose={() => setOpen(null)}
          onSaved={onSaved}
        />
      ) : null}
    </Page>
  );
}
