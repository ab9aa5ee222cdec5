import { Component, type ReactNode, useEffect, useRef } from 'react';
import { messageOf } from '../../src/text/thrown.ts';
import { connection } from '../data/client.ts';
import { useStore } from '../data/store.ts';
import { Button } from '../parts/button.tsx';
import { Page } from '../parts/page.tsx';
import { Safe } from '../parts/safe.tsx';

type Props = { readonly children: ReactNode };

/**
 * What stands in the place of a page that could not be drawn, or whose code did not come: the server is away, or no longer
 * has it because another version was installed meanwhile. React has no other way to catch this than a class.
 */
export class PageFault extends Component<Props, { readonly fault: string | null }> {
  constructor(props: Props) {
    super(props);
    this.state = { fault: null };
  }

  static getDerivedStateFromError(thrown: unknown) {
    return { fault: messageOf(thrown) };
  }

  override render(): ReactNode {
    const { fault } = this.state;
    return fault === null ? this.props.children : <Fault fault={fault} />;
  }
}

function Fault({ fault }: { readonly fault: string }) {
  const away = useStore(connection).state === 'lost';
  const wasAway = useRef(away);
  // A browser may remember that a file did not come, so nothing less than the whole page is loaded.
  useEffect(() => {
    if (wasAway.current && !away) location.reload();
    wasAway.current = away;
  }, [away]);
  return (
    <Page title="This page could not be shown">
      {away ? (
        <p className="note warn" role="alert">
          The server does not answer, and this page was not opened before. It is loaded when the server is back.
        </p>
      ) : (
        <div className="note danger stack tight" role="alert">
          <p className="wrap">
            <Safe text={fault} />
          </p>
          <p>Another version of Reins may have been started since this tab was opened. Drafts are kept.</p>
          <div>
            <Button look="primary" onClick={() => location.reload()}>
              Load it anew
            </Button>
          </div>
        </div>
      )}
    </Page>
  );
}
