import { Page } from '../parts/page.tsx';
import { Empty } from '../parts/states.tsx';

export const RunsPage = () => (
  <Page title="Runs">
    <Empty>Nothing yet.</Empty>
  </Page>
);
