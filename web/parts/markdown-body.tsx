import type { ReactNode } from 'react';
import ReactMarkdown, { type Components, type ExtraProps } from 'react-markdown';
import remarkGfm from 'remark-gfm';
import { escapeText } from '../../src/view/escape.ts';
import { CopyButton } from './button.tsx';

/** Our own notation stays; character references may have made anything of the rest. */
const notation = /(⟨[^⟩]*⟩|[\u2400-\u2426⏎⇥])/;
const visible = (text: string): string =>
  text
    .split(notation)
    .map((part, index) => (index % 2 === 0 ? escapeText(part, { mode: 'prose' }) : part))
    .join('');

type Node = { type: string; value?: string; children?: Node[] };

/** Text that the parser has made of character references passes the boundary once more. */
const escapeNodes = () => (tree: Node) => {
  const walk = (node: Node): void => {
    if (node.type === 'text' && node.value !== undefined) node.value = visible(node.value);
    for (const child of node.children ?? []) walk(child);
  };
  walk(tree);
};

const backToText = '#user-content-fnref-';
const toNote = '#user-content-fn-';
/** A note by the name that the text gives it: a block knows nothing of the numbers of others. */
function noteName(id: string): string {
  const name = id.slice(toNote.length - 1);
  try {
    return visible(decodeURIComponent(name));
  } catch {
    // No address has been written this way.
    return visible(name);
  }
}
const isOpen = (url: string): boolean => /^(?:https?:\/\/|mailto:)/i.test(url);

function Link({ href, children }: { readonly href?: string | undefined; readonly children?: ReactNode }) {
  // Between a text and its note there is no way: each stands where it is.
  if (href?.startsWith(backToText) === true) return null;
  if (href?.startsWith(toNote) === true) return <span>[{noteName(href.slice(1))}]</span>;
  const url = visible(href ?? '');
  const said = typeof children === 'string' && children === url;
  const text = said ? url : children;
  const address = said ? null : <span className="muted"> ({url})</span>;
  if (!isOpen(url)) {
    return (
      <span>
        {text}
        {address}
      </span>
    );
  }
  return (
    <>
      <a href={url} target="_blank" rel="noopener noreferrer">
        {text}
      </a>
      {address}
    </>
  );
}

/** The notes of a block stand below it, and need no heading of their own. */
const Heading = ({ id, children }: { readonly id?: string | undefined; readonly children?: ReactNode }) =>
  id === 'footnote-label' ? null : <h2 dir="auto">{children}</h2>;

function ListItem({
  id,
  className,
  children,
}: {
  readonly id?: string | undefined;
  readonly className?: string | undefined;
  readonly children?: ReactNode;
}) {
  if (id?.startsWith(toNote.slice(1)) !== true) return <li className={className}>{children}</li>;
  return (
    <li className="note-of">
      <span className="muted">[{noteName(id)}]</span>
      <div>{children}</div>
    </li>
  );
}

type CodeNode = NonNullable<ExtraProps['node']>['children'][number];

/** A block of code, and a way to take it along as it is shown. */
function Code({ code, children }: { readonly code: CodeNode | undefined; readonly children?: ReactNode }) {
  const element = code?.type === 'element' ? code : null;
  const [text] = element?.children ?? [];
  const named = element?.properties['className'];
  const language = /language-(\S+)/.exec(Array.isArray(named) ? named.join(' ') : '')?.[1];
  return (
    <div className="code wraps">
      <div className="code-head">
        <span className="small muted mono cut">{language === undefined ? '' : visible(language)}</span>
        <CopyButton text={text?.type === 'text' ? text.value.replace(/\n$/, '') : ''} what="the code" />
      </div>
      <pre>{children}</pre>
    </div>
  );
}

/** What scrolls is reached with the keyboard. */
const scrolls = { tabIndex: 0 } as const;

const components: Components = {
  a: ({ href, children }) => <Link href={href}>{children}</Link>,
  // Nothing is fetched because a text says so.
  img: ({ src, alt }) => (
    <span className="muted">
      [image: {alt ?? ''}] ({visible(typeof src === 'string' ? src : '')})
    </span>
  ),
  input: ({ checked }) => <span>{checked === true ? '☑' : '☐'} </span>,
  // Each block runs in the direction of its own writing.
  p: ({ children }) => <p dir="auto">{children}</p>,
  ul: ({ children }) => <ul dir="auto">{children}</ul>,
  ol: ({ children, start }) => (
    <ol dir="auto" start={start}>
      {children}
    </ol>
  ),
  blockquote: ({ children }) => <blockquote dir="auto">{children}</blockquote>,
  table: ({ children }) => (
    <section className="wide-table" aria-label="Table" dir="auto" {...scrolls}>
      <table>{children}</table>
    </section>
  ),
  // The page has its own headings; those of a text are below them.
  li: ({ id, className, children }) => (
    <ListItem id={id} className={className}>
      {children}
    </ListItem>
  ),
  h1: Heading,
  h2: Heading,
  h3: Heading,
  h4: Heading,
  h5: Heading,
  h6: Heading,
  pre: ({ children, node }) => <Code code={node?.children[0]}>{children}</Code>,
  code: ({ children }) => <code>{children}</code>,
  th: ({ children, style }) => <th style={{ textAlign: style?.textAlign }}>{children}</th>,
  td: ({ children, style }) => <td style={{ textAlign: style?.textAlign }}>{children}</td>,
};

/** One block of Markdown as elements: raw HTML is text, and a link is only what it says. */
export const MarkdownBody = ({ text }: { readonly text: string }) => (
  <ReactMarkdown
    remarkPlugins={[remarkGfm]}
    rehypePlugins={[escapeNodes]}
    components={components}
    urlTransform={(url) => url}
  >
    {escapeText(text, { mode: 'prose' })}
  </ReactMarkdown>
);
