import { lazy, Suspense, useRef, useState } from 'react';
import { Link, useSearchParams } from 'wouter';
import type { ChainDocument } from '../../src/schema/document-views.ts';
import { client } from '../data/client.ts';
import { useData } from '../data/use-data.ts';
import type { CodeEditor } from '../editor/code-mirror.ts';
import {
  ChangeButtons,
  DocumentTags,
  DocumentText,
  isUnreadable,
  UnreadableDocument,
} from '../editor/document-parts.tsx';
import { placesOf } from '../editor/json-places.ts';
import { useDraft } from '../editor/use-draft.ts';
import { useVetted } from '../editor/use-vetted.ts';
import { Button } from '../parts/button.tsx';
import { Page, Waiting } from '../parts/page.tsx';
import { Empty, Loaded, Skeleton } from '../parts/states.tsx';
import { lastRunOf } from './last-run.ts';
import { RunChain } from './run-chain.tsx';
import { SaveChain } from './save-chain.tsx';

const Picture = lazy(() => import('./picture.tsx').then((m) => ({ default: m.ChainPicture })));
const AsList = lazy(() => import('./picture.tsx').then((m) => ({ default: m.ChainList })));

/** One chain: its picture beside its text (09 §8.11). */
export function ChainPage({ file }: { readonly file: string }) {
  const [params] = useSearchParams();
  // The links of the list are written with these words.
  const source = params.get('source') as ChainDocument['source'] | null;
  const data = useData(
    `chain ${file} ${source ?? ''}`,
    () => client.getChain({ file, ...(source === null ? {} : { source }) }),
    { topics: ['documents'], files: true },
  );
  if (data.value === null) return <Waiting title={file} data={data} way={<Link href="/chains">All chains</Link>} />;
  return (
    <Loaded data={data}>
      {(read) =>
        isUnreadable(read) ? (
          <UnreadableDocument file={file} read={read} onRetry={data.reload} />
        ) : (
          <Editor key={`${read.source} ${file}`} file={file} read={read} onSaved={data.reload} />
        )
      }
    </Loaded>
  );
}

function Editor({
  file,
  read,
  onSaved,
}: {
  readonly file: string;
  readonly read: ChainDocument;
  readonly onSaved: () => void;
}) {
  const draft = useDraft(`chain:${read.source}:${file}`, read);
  const vetted = useVetted(draft.text, (text) => client.validateChain({ text }));
  const [selected, select] = useState<string | null>(null);
  const [open, setOpen] = useState<'save' | 'run' | null>(null);
  const handle = useRef<CodeEditor | null>(null);
  const graph = vetted.value?.graph ?? read.graph;
  const findings = vetted.value?.findings ?? read.findings;
  const id = idOf(draft.text);
  const taken = useData(id === null ? null : `last run of ${id}`, async () => ({ run: await lastRunOf(id ?? '') }), {
    topics: ['runs'],
    when: ({ kind }) => kind.startsWith('chain_') || kind === 'tool_call',
  });
  const builtin = read.source === 'builtin';
  return (
    <Page
      title={file}
      actions={
        <>
          {draft.dirty ? <span className="tag warn">not saved</span> : null}
          <Button onClick={() => setOpen('run')}>Run with input…</Button>
          {builtin ? null : <ChangeButtons draft={draft} vetted={vetted} onSave={() => setOpen('save')} />}
        </>
      }
    >
      <DocumentTags
        origin={builtin ? 'built in, cannot be changed' : read.source}
        trusted={read.trusted}
        outdated={draft.outdated}
      />
      <div className="work">
        {graph === null ? (
          <Empty>There is no picture of a text that is no chain.</Empty>
        ) : (
          <Suspense fallback={<Skeleton />}>
            <div className="stack tight">
              <Picture
                graph={graph}
                taken={taken.value?.run ?? null}
                selected={selected}
                onSelect={(task) => {
                  select(task);
                  handle.current?.goTo(pathOfTask(draft.text, task));
                }}
              />
              <AsList graph={graph} />
            </div>
          </Suspense>
        )}
        <DocumentText
          text={draft.text}
          label={`Text of ${file}`}
          findings={findings}
          fault={vetted.fault}
          readOnly={builtin}
          onChange={draft.setText}
          onCursor={(at) => select(taskAt(draft.text, at))}
          handle={handle}
        />
      </div>
      {open === 'save' && read.source !== 'builtin' ? (
        <SaveChain file={file} source={read.source} draft={draft} onClose={() => setOpen(null)} onSaved={onSaved} />
      ) : null}
      {open === 'run' ? (
        <RunChain
          name={file.replace(/\.json$/, '')}
          text={draft.dirty ? draft.text : null}
          onClose={() => setOpen(null)}
        />
      ) : null}
    </Page>
  );
}

type Task = { readonly id?: unknown };

function tasksOf(text: string): readonly Task[] {
  try {
    const tasks: unknown = Reflect.get(Object(JSON.parse(text)), 'tasks');
    return Array.isArray(tasks) ? tasks : [];
  } catch {
    return [];
  }
}

function idOf(text: string): string | null {
  try {
    const id: unknown = Reflect.get(Object(JSON.parse(text)), 'id');
    return typeof id === 'string' ? id : null;
  } catch {
    return null;
  }
}

const pathOfTask = (text: string, task: string): string =>
  `/tasks/${Math.max(
    0,
    tasksOf(text).findIndex((one) => Object(one).id === task),
  )}`;

/** The task whose text a place is in. */
function taskAt(text: string, at: number): string | null {
  const places = placesOf(text);
  for (const [index, task] of tasksOf(text).entries()) {
    const place = places.get(JSON.stringify(['tasks', index]));
    if (place !== undefined && at >= place.from && at <= place.to) return String(Object(task).id ?? '');
  }
  return null;
}
