import { Page } from '../parts/page.tsx';
import { Empty } from '../parts/states.tsx';

export const ChatPage = () => (
  <Page title="Chat">
    <Empty>Nothing yet.</Empty>
  </Page>
);
