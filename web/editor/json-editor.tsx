import { type RefObject, useEffect, useRef, useState } from 'react';
import type { DocumentFinding } from '../../src/schema/document-views.ts';
import { Skeleton } from '../parts/states.tsx';
import type { CodeEditor } from './code-mirror.ts';
import '../styles/editor.css';

/** An editor for a JSON document, loaded when it is first shown. `handle` is set while it is there. */
export function JsonEditor({
  text,
  label,
  findings,
  readOnly = false,
  onChange,
  onCursor = () => {},
  handle,
}: {
  readonly text: string;
  readonly label: string;
  readonly findings: readonly DocumentFinding[];
  readonly readOnly?: boolean;
  readonly onChange: (text: string) => void;
  readonly onCursor?: (at: number) => void;
  readonly handle: RefObject<CodeEditor | null>;
}) {
  const element = useRef<HTMLDivElement>(null);
  const latest = useRef({ text, onChange, onCursor });
  latest.current = { text, onChange, onCursor };
  const [there, setThere] = useState(false);

  useEffect(() => {
    let closed = false;
    void import('./code-mirror.ts').then(({ openCodeEditor }) => {
      if (closed || element.current === null) return;
      handle.current = openCodeEditor({
        parent: element.current,
        text: latest.current.text,
        label,
        readOnly,
        onChange: (next) => latest.current.onChange(next),
        onCursor: (at) => latest.current.onCursor(at),
      });
      setThere(true);
    });
    return () => {
      closed = true;
      handle.current?.close();
      handle.current = null;
      setThere(false);
    };
  }, [label, readOnly, handle]);

  useEffect(() => {
    if (there) handle.current?.setText(text);
  }, [there, text, handle]);
  useEffect(() => {
    if (there) handle.current?.setFindings(findings);
  }, [there, findings, handle]);

  return (
    <div className="editor">
      {there ? null : <Skeleton />}
      <div ref={element} className="editor-body" />
    </div>
  );
}
