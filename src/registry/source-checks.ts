import { RuntimeError } from '../schema/errors.ts';
import type { SetupIssue } from '../schema/registry.ts';
import type { SourceCheck } from '../schema/tool-sources.ts';
import { quote } from '../text/quote.ts';
import { issue } from './issue.ts';

/** What `doctor` says of hooks and tool servers (06 §15). */
export const sourceIssues = (checks: readonly SourceCheck[]): readonly SetupIssue[] => checks.flatMap(issuesOf);

/** Of a database that takes no writes, or that another process holds. */
const unnoted: ReadonlySet<string> = new Set(['config_invalid', 'storage', 'database_busy']);

/** One look. Where what was found cannot be noted, that is said of it, and all the rest is shown (11 §2.12). */
export async function lookedAt(
  about: Pick<SourceCheck, 'kind' | 'name' | 'place'>,
  look: () => Promise<SourceCheck>,
): Promise<SourceCheck> {
  try {
    return await look();
  } catch (error) {
    if (!(error instanceof RuntimeError) || !unnoted.has(error.code)) throw error;
    const { code: errorClass, message } = error;
    return { ...about, state: 'error', tools: 0, waiting: [], latencyMs: null, errorClass, error: message };
  }
}

function issuesOf(check: SourceCheck): SetupIssue[] {
  const { kind, name, waiting, errorClass } = check;
  const command = kind === 'hook' ? 'hook' : 'mcp';
  const what = kind === 'hook' ? `The hook ${name}` : `The MCP server ${name}`;
  const about = { severity: 'warning', category: 'tools', fixPath: '/tools', subject: name } as const;
  const found: SetupIssue[] = [];
  if (errorClass === 'needs_auth') {
    const message = `${what} wants you to sign in.`;
    found.push(issue({ ...about, code: 'mcp_auth_required', message, cliCommand: `reins mcp auth ${quote(name)}` }));
  } else if (check.state === 'error') {
    const look = kind === 'hook' ? 'refresh' : 'test';
    found.push(
      issue({
        ...about,
        code: `${command}_unreachable`,
        message: `${what} cannot be used: ${check.error ?? 'it did not answer'}`,
        cliCommand: `reins ${command} ${look} ${quote(name)}`,
      }),
    );
  }
  if (waiting.length > 0) {
    const tools = waiting.slice(0, 5).join(', ') + (waiting.length > 5 ? ', …' : '');
    found.push(
      issue({
        ...about,
        code: 'tool_quarantined',
        message: `${what} describes ${waiting.length === 1 ? 'a tool' : `${waiting.length} tools`} otherwise than you accepted: ${tools}`,
        cliCommand: `reins ${command} accept ${quote(name)}`,
      }),
    );
  }
  return found;
}
