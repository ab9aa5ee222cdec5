import '../styles/settings.css';
import { useParams, useLocation } from 'wouter';
import { Page } from '../parts/page.tsx';
import { Tabs } from '../parts/tabs.tsx';
import { About } from '../settings/about.tsx';
import { Audit } from '../settings/audit.tsx';
import { Config } from '../settings/config.tsx';
import { LoginSessions } from '../settings/login-sessions.tsx';
import { Password } from '../settings/password.tsx';
import { Trusted } from '../settings/trusted.tsx';

const sections = {
  config: { label: 'Configuration', Body: Config },
  password: { label: 'Password', Body: Password },
  sessions: { label: 'Sessions', Body: LoginSessions },
  trust: { label: 'Trust', Body: Trusted },
  audit: { label: 'Audit', Body: Audit },
  about: { label: 'About', Body: About },
} as const;
type Section = keyof typeof sections;
const isSection = (name: string | undefined): name is Section => name !== undefined && Object.hasOwn(sections, name);

/** Settings of the program, of the login and of this browser (09 §8.14). */
export function SettingsPage() {
  const { section } = useParams();
  const [, navigate] = useLocation();
  const selected = isSection(section) ? section : 'config';
  const { Body } = sections[selected];
  return (
    <Page title="Settings">
      <Tabs
        label="Settings"
        selected={selected}
        onSelect={(id) => navigate(`/settings/${id}`)}
        tabs={Object.entries(sections).map(([id, { label }]) => ({ id, label }))}
      >
        <Body />
      </Tabs>
    </Page>
  );
}
