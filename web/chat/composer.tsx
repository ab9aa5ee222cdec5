import { type FormEvent, type KeyboardEvent, useEffect, useLayoutEffect, useRef } from 'react';
import { useHistoryState } from 'wouter/use-browser-location';
import type { RunRecord } from '../../src/schema/run-record.ts';
import { formatCount } from '../../src/view/format.ts';
import { client } from '../data/client.ts';
import { useStore } from '../data/store.ts';
import { useAction, useData } from '../data/use-data.ts';
import { Button, SureButton } from '../parts/button.tsx';
import { Safe } from '../parts/safe.tsx';
import { ErrorNote } from '../parts/states.tsx';
import { Queued } from '../runs/queued.tsx';
import { draftOf, type SendOptions } from './kept.ts';
import { OptionsButton } from './options.tsx';
import type { Chat } from './use-chat.ts';

/** Bytes of a message (09 §6.3). */
const mostBytes = 256 * 1024;
/** With which somebody goes to a chat that was just made. */
export const toWrite = 'to write';
const bytesOf = (text: string): number => new TextEncoder().encode(text).length;

/** Where a message is written. Enter sends, Shift+Enter begins a line; while a run is active the button stops it. */
export function Composer({
  name,
  chat,
  rests,
  waits,
  queued,
  options,
  onOptions,
}: {
  readonly name: string;
  readonly chat: Chat;
  /** It has asked something. */
  readonly waits: boolean;
  /** The run of the chat waits for somebody. */
  readonly rests: boolean;
  /** Its run, while that waits for its turn. */
  readonly queued: RunRecord | null;
  readonly options: SendOptions;
  readonly onOptions: (options: SendOptions) => void;
}) {
  const draft = draftOf(name);
  const text = useStore(draft);
  const setText = draft.set;
  const field = useRef<HTMLTextAreaElement>(null);
  const mention = /(?:^|\s)@([^\s@]*)$/.exec(text)?.[1];
  const active = chat.runId !== null || chat.sending;

  const comesToWrite = useHistoryState() === toWrite;
  useEffect(() => {
    // A finger that made a chat is shown it, and not a keyboard over it.
    if (comesToWrite && matchMedia('(pointer: fine)').matches) field.current?.focus();
  }, [comesToWrite]);
  // What was put here by a press somewhere else is to be changed here.
  const own = useRef(text);
  useEffect(() => {
    const box = field.current;
    if (box === null || text === own.current) return;
    own.current = text;
    if (text === '') return;
    box.focus();
    box.setSelectionRange(text.length, text.length);
  }, [text]);
  useLayoutEffect(() => {
    void text;
    if (field.current !== null) fitToText(field.current);
  }, [text]);

  const bytes = text.length > mostBytes / 8 ? bytesOf(text) : 0;
  const canSend = text.trim() !== '' && bytes <= mostBytes && !active;
  const send = () => {
    if (!canSend) return;
    chat.send(text, options);
    setText('');
  };
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    // Of the key that ends a composition Safari says in another way what it belongs to.
    if (event.nativeEvent.isComposing || event.keyCode === 229) return;
    const named = event.currentTarget.form?.querySelectorAll<HTMLElement>('.mentions button') ?? [];
    if (named.length > 0 && !event.shiftKey && (event.key === 'Tab' || event.key === 'ArrowUp')) {
      // The list stands above: Tab takes its first file, and the arrow goes to the nearest.
      event.preventDefault();
      if (event.key === 'Tab') named[0]?.click();
      else named[named.length - 1]?.focus();
      return;
    }
    if (event.key === 'Enter' && !event.shiftKey) {
      event.preventDefault();
      send();
    } else if (event.key === 'ArrowUp' && text === '') {
      const last = chat.items.findLast((item) => item.kind === 'user');
      if (last?.kind === 'user') setText(last.text);
    }
  };
  const stop = useAction(() => client.endRun({ id: chat.runId ?? '' }));
  const { clear } = stop;
  useEffect(() => {
    if (chat.runId !== null) clear();
  }, [chat.runId, clear]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    send();
  };
  return (
    <form className="composer" onSubmit={submit}>
      {mention === undefined ? null : (
        <Mentions
          query={mention}
          onPick={(path) => {
            setText(`${text.slice(0, text.length - mention.length)}${path} `);
          }}
        />
      )}
      <textarea
        ref={field}
        className="input"
        rows={2}
        data-filter
        dir="auto"
        aria-label="Message"
        placeholder="Say what should happen. @ names a file."
        value={text}
        onChange={({ target }) => {
          own.current = target.value;
          setText(target.value);
        }}
        onKeyDown={onKeyDown}
      />
      {queued === null ? null : (
        <p className="small muted" role="status">
          <Queued run={queued} />
        </p>
      )}
      {active && text.trim() !== '' && queued === null ? (
        <p className="small muted" role="status">
          {waits
            ? 'The turn waits for your answer: this can be sent when it is over.'
            : rests
              ? 'The last turn is not over: this can be sent when it has gone on or was ended.'
              : chat.runId === null
                ? 'The message before this one is on its way: this can be sent behind it.'
                : 'A turn is running: this can be sent when it is over.'}
        </p>
      ) : null}
      {chat.runId === null || stop.error === null || stop.error.code === 'run_not_active' ? null : (
        <ErrorNote error={stop.error} />
      )}
      <div className="composer-foot">
        <OptionsButton options={options} onOptions={onOptions} />
        <div className="row">
          {bytes > (mostBytes * 7) / 8 ? (
            <span className={`small ${bytes > mostBytes ? 'fault' : 'muted'}`}>
              {formatCount(bytes)} of {formatCount(mostBytes)} bytes
            </span>
          ) : null}
          {chat.runId === null ? (
            <Button submit look="primary" disabled={!canSend}>
              Send
            </Button>
          ) : (
            // Asks once, then cancels.
            <SureButton
              word={rests ? 'End the turn' : 'Stop'}
              sureWord="Really end it?"
              busy={stop.busy}
              onSure={() => void stop.run()}
            />
          )}
        </div>
      </div>
    </form>
  );
}

/** Makes a field as high as its text, up to a bound. */
function fitToText(box: HTMLTextAreaElement): void {
  const { form } = box;
  // While the text is measured the form keeps its room: the chat above would grow into it for a moment, and a view that
  // stands at its end would be moved up by that, as if somebody had scrolled.
  if (form !== null) form.style.height = `${form.offsetHeight}px`;
  box.style.height = 'auto';
  box.style.height = `${Math.min(box.scrollHeight + 2, 240)}px`;
  if (form !== null) form.style.height = '';
}

/** Files of the workspace whose path has what was typed behind `@`. */
function Mentions({ query, onPick }: { readonly query: string; readonly onPick: (path: string) => void }) {
  const files = useData(`files ${query}`, () => client.findFiles({ query, limit: 8 }));
  const found = files.value?.items ?? [];
  if (found.length === 0) return null;
  return (
    <ul className="mentions" aria-label="Files">
      {found.map(({ path }) => (
        <li key={path}>
          <button type="button" className="mono" onClick={() => onPick(path)}>
            <Safe text={path} />
          </button>
        </li>
      ))}
    </ul>
  );
}
