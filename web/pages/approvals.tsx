import { Page } from '../parts/page.tsx';
import { Empty } from '../parts/states.tsx';

export const ApprovalsPage = () => (
  <Page title="Approvals">
    <Empty>Nothing yet.</Empty>
  </Page>
);
