import { Component, type ReactNode } from 'react';
import { messageOf } from '../../src/text/thrown.ts';
import { Button } from '../parts/button.tsx';
import { Page } from '../parts/page.tsx';
import { Safe } from '../parts/safe.tsx';

type Props = { readonly children: ReactNode };

/**
 * What stands in the place of a page that could not be drawn, or whose code the server no longer has because another
 * version was installed meanwhile. React has no other way to catch this than a class.
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
    if (fault === null) return this.props.children;
    return (
      <Page title="This page could not be shown">
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
      </Page>
    );
  }
}
