import type { ComponentProps } from 'react';
import type { DocumentFinding } from '../../src/schema/document-views.ts';
import { Button } from '../parts/button.tsx';
import { Page } from '../parts/page.tsx';
import { Safe } from '../parts/safe.tsx';
import { Findings } from './findings.tsx';
import { JsonEditor } from './json-editor.tsx';
import type { Draft } from './use-draft.ts';
import type { Vetted } from './use-vetted.ts';

/** Where a document comes from, and what to know before it is saved. */
export const DocumentTags = ({
  origin,
  trusted,
  outdated,
}: {
  readonly origin: string;
  readonly trusted: boolean;
  readonly outdated: boolean;
}) => (
  <p className="row">
    <span className="tag">{origin}</span>
    {trusted ? null : <span className="tag warn">not trusted; saving it trusts it</span>}
    {outdated ? <span className="tag warn">somebody has saved another version</span> : null}
  </p>
);

type Read = { readonly sha256: string; readonly findings: readonly DocumentFinding[] };

/** The file is there, and nothing of it could be read: it is not an empty one. */
export const isUnreadable = ({ sha256 }: Read): boolean => sha256 === '';

/** Why a document has no editor: to write over what nobody could see is no way to mend it. */
export const UnreadableDocument = ({
  file,
  read,
  onRetry,
}: {
  readonly file: string;
  readonly read: Read;
  readonly onRetry: () => void;
}) => (
  <Page title={file}>
    <div className="note danger stack tight" role="alert">
      <p className="wrap">
        This file cannot be read: <Safe text={read.findings.map(({ message }) => message).join('; ')} />. What is in it
        stays as it is.
      </p>
      <div className="row">
        <Button size="small" onClick={onRetry}>
          Try again
        </Button>
      </div>
    </div>
  </Page>
);

/** Undoes and saves the changes of a draft; one that is known to be broken, or not looked at yet, is not saved. */
export const ChangeButtons = ({
  draft,
  vetted,
  onSave,
}: {
  readonly draft: Draft;
  readonly vetted: Vetted<{ readonly valid: boolean }>;
  readonly onSave: () => void;
}) => (
  <>
    <Button disabled={!draft.dirty || draft.base === null} onClick={draft.undo}>
      Undo changes
    </Button>
    <Button look="primary" disabled={!draft.dirty || vetted.value?.valid === false || !vetted.current} onClick={onSave}>
      Save…
    </Button>
  </>
);

/** The text of a document with what was found in it. */
export const DocumentText = ({
  fault,
  ...editor
}: ComponentProps<typeof JsonEditor> & {
  /** Why it could not be looked at. */
  readonly fault: string | null;
}) => (
  <div className="stack tight">
    <JsonEditor {...editor} />
    {fault === null ? null : <p className="fault">{fault}</p>}
    <Findings findings={editor.findings} onGo={(path) => editor.handle.current?.goTo(path)} />
  </div>
);
