import { useState } from 'react';
import type { InstructionsItem } from '../../src/client/routes/system.ts';
import type { Known } from '../../src/schema/shape.ts';
import { formatBytes } from '../../src/view/format.ts';
import { client } from '../data/client.ts';
import { useData } from '../data/use-data.ts';
import { Button } from './button.tsx';
import { CodeBlock } from './code-block.tsx';
import { Safe } from './safe.tsx';
import { Loaded } from './states.tsx';

/** Which files with instructions for agents the next message of a chat would have, which not, and why. */
export function Instructions({
  chain,
  policy,
}: {
  readonly chain?: string | undefined;
  readonly policy?: string | undefined;
}) {
  const data = useData(
    `instructions ${JSON.stringify([chain, policy])}`,
    () => client.listInstructions({ chain, policy }),
    { topics: ['documents', 'setup'] },
  );
  return (
    <section className="stack tight" aria-label="Instructions for agents">
      <h3>Instructions for agents</h3>
      <Loaded data={data} beside>
        {(files) =>
          files.length === 0 ? (
            <p className="small muted">
              None: there is no AGENTS.md in this workspace, and none of your own in the directory of Reins.
            </p>
          ) : (
            files.map((file) => <File key={file.source} file={file} />)
          )
        }
      </Loaded>
    </section>
  );
}

function File({ file }: { readonly file: Known<typeof InstructionsItem> }) {
  const { path, bytes, cut, withheld, mend, text } = file;
  const [open, setOpen] = useState(false);
  return (
    <div className="stack tight small">
      <p className="row">
        <span className={`tag ${withheld === null ? 'good' : 'warn'}`}>
          {withheld === null ? 'given' : 'not given'}
        </span>
        <span className="mono wrap">
          <Safe text={path} />
        </span>
        {bytes === 0 ? null : (
          <span className="muted">{`${formatBytes(bytes)}${cut ? ', the first 32 KiB' : ''}`}</span>
        )}
        {text === null ? null : (
          <Button size="small" aria-expanded={open} onClick={() => setOpen(!open)}>
            {open ? 'Hide' : 'What the model gets'}
          </Button>
        )}
      </p>
      {withheld === null ? null : (
        <p className="wrap">
          <Safe text={withheld} mode="prose" />
        </p>
      )}
      {mend === null ? null : (
        <p className="mono wrap">
          <Safe text={mend} />
        </p>
      )}
      {open && text !== null ? <CodeBlock text={text} label="What the model gets" /> : null}
    </div>
  );
}
