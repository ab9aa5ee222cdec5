import { json } from '@codemirror/lang-json';
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { type Diagnostic, lintGutter, setDiagnostics } from '@codemirror/lint';
import { tags } from '@lezer/highlight';
import { basicSetup, EditorView } from 'codemirror';
import type { DocumentFinding } from '../../src/schema/document-views.ts';
import { placeOf, placesOf } from './json-places.ts';

/** An editor that has been put into a page. */
export type CodeEditor = {
  text(): string;
  /** Replaces the text, unless it is the same. */
  setText(text: string): void;
  setFindings(findings: readonly DocumentFinding[]): void;
  /** Goes to a value and selects it. */
  goTo(path: string): void;
  close(): void;
};

const colours = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--accent)' },
  { tag: tags.string, color: 'var(--good)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--warn)' },
  { tag: [tags.separator, tags.brace, tags.squareBracket], color: 'var(--muted)' },
  { tag: tags.invalid, color: 'var(--danger)' },
]);

const look = EditorView.theme({
  '&': { color: 'var(--text)', backgroundColor: 'var(--surface)', fontSize: '0.86rem', height: '100%' },
  '.cm-content': { caretColor: 'var(--text)', fontFamily: 'var(--mono)' },
  '.cm-scroller': { fontFamily: 'var(--mono)', overflow: 'auto' },
  '.cm-gutters': { backgroundColor: 'var(--sunken)', color: 'var(--muted)', borderRight: '1px solid var(--line)' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'var(--accent-soft)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '&.cm-focused': { outline: 'none' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'light-dark(#c9d4fb, #34447e)',
  },
  '.cm-tooltip, .cm-panels': { backgroundColor: 'var(--raised)', color: 'var(--text)', borderColor: 'var(--line)' },
  '.cm-foldPlaceholder': { backgroundColor: 'var(--sunken)', color: 'var(--muted)', borderColor: 'var(--line)' },
});

/**
 * Text over a selection is put in by the editor. The browser would carry the look of what was selected over to it with
 * a style of its own, which the policy of the page refuses and reports.
 */
function overSelection(event: InputEvent, view: EditorView): boolean {
  const { inputType, data, isComposing } = event;
  if (inputType !== 'insertText' || data === null || isComposing || view.state.readOnly) return false;
  if (view.state.selection.main.empty) return false;
  view.dispatch(view.state.replaceSelection(data), { userEvent: 'input.type', scrollIntoView: true });
  return true;
}

/** Puts an editor for JSON into an element. The policy of the page lets its styles in by the nonce of the page. */
export function openCodeEditor(options: {
  readonly parent: HTMLElement;
  readonly text: string;
  readonly label: string;
  readonly readOnly: boolean;
  readonly onChange: (text: string) => void;
  /** The place of the cursor, in characters. */
  readonly onCursor: (at: number) => void;
}): CodeEditor {
  const nonce = document.querySelector<HTMLMetaElement>('meta[property=csp-nonce]')?.nonce ?? '';
  let ours = false;
  const view = new EditorView({
    doc: options.text,
    parent: options.parent,
    extensions: [
      EditorView.cspNonce.of(nonce),
      basicSetup,
      json(),
      lintGutter(),
      look,
      syntaxHighlighting(colours),
      EditorView.lineWrapping,
      EditorView.domEventHandlers({ beforeinput: overSelection }),
      EditorView.editable.of(!options.readOnly),
      EditorView.contentAttributes.of({
        'aria-label': options.label,
        tabindex: '0',
        ...(options.readOnly ? { 'aria-readonly': 'true' } : {}),
      }),
      EditorView.updateListener.of((update) => {
        if (update.docChanged && !ours) options.onChange(update.state.doc.toString());
        if (update.selectionSet) options.onCursor(update.state.selection.main.head);
      }),
    ],
  });
  return {
    text: () => view.state.doc.toString(),
    setText(text) {
      if (text === view.state.doc.toString()) return;
      ours = true;
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
      ours = false;
    },
    setFindings(findings) {
      const places = placesOf(view.state.doc.toString());
      const end = view.state.doc.length;
      const found = findings.map(({ severity, path, message }): Diagnostic => {
        const place = placeOf(places, path) ?? { from: 0, to: Math.min(1, end) };
        const from = Math.min(place.from, end);
        // A whole block underlined says nothing: its first line does.
        const to = Math.min(place.to, view.state.doc.lineAt(from).to, end);
        return {
          from,
          to,
          message,
          severity: severity === 'error' ? 'error' : severity === 'warn' ? 'warning' : 'info',
        };
      });
      view.dispatch(setDiagnostics(view.state, found));
    },
    goTo(path) {
      const place = placeOf(placesOf(view.state.doc.toString()), path);
      if (place === null) return;
      view.dispatch({ selection: { anchor: place.from, head: place.to }, scrollIntoView: true });
      view.focus();
    },
    close: () => view.destroy(),
  };
}
