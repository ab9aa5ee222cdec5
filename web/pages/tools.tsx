import { useChoice } from '../data/use-query.ts';
import { Page } from '../parts/page.tsx';
import { Tabs } from '../parts/tabs.tsx';
import { Hooks } from '../tools/hooks.tsx';
import { McpServers } from '../tools/mcp-servers.tsx';
import { ToolList } from '../tools/tool-list.tsx';

const tabs = [
  { id: 'tools', label: 'Tools' },
  { id: 'hooks', label: 'Hooks' },
  { id: 'mcp', label: 'MCP servers' },
] as const;

/** The tools of all providers, and where they come from (09 §8.13). */
export function ToolsPage() {
  const [tab, setTab] = useChoice(
    'tab',
    tabs.map(({ id }) => id),
    'tools',
  );
  return (
    <Page title="Tools">
      <Tabs label="Tools" selected={tab} onSelect={setTab} tabs={tabs}>
        {tab === 'hooks' ? <Hooks /> : tab === 'mcp' ? <McpServers /> : <ToolList />}
      </Tabs>
    </Page>
  );
}
