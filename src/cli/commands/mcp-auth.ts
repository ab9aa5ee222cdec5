import type { Context, Handler } from '../context.ts';
import { openUrl } from '../open-link.ts';

const auth: Handler = async (context) => {
  const name = context.invocation.words[0] ?? '';
  const client = await context.client();
  if (context.invocation.flags.bool('logout') === true) {
    const { signed_out } = await client.signOutMcpServer({ name });
    return said(context, signed_out ? `Signed out of "${name}".` : `Nobody was signed in to "${name}".`, {
      signed_out,
    });
  }
  const stop = new AbortController();
  const ignore = context.process.onSignal('SIGINT', () => stop.abort());
  try {
    await client.signInMcpServer({ name }, (url) => showUrl(context, url), stop.signal);
  } catch (error) {
    if (stop.signal.aborted) return 130;
    throw error;
  } finally {
    ignore();
  }
  return said(context, `Authorised "${name}".`, { authorised: name });
};

async function said(context: Context, sentence: string, value: Readonly<Record<string, unknown>>): Promise<number> {
  if (context.globals.format !== 'text') await context.printJson(value);
  else await context.print(sentence);
  return 0;
}

/** The URL is told in any case: the browser of this machine need not be the operator's. */
function showUrl(context: Context, url: string): void {
  context.terminal.err(`Open this page to sign in:\n  ${context.safe(url)}\n`);
  if (context.invocation.flags.bool('browser') === false || !context.terminal.stderrIsTerminal) return;
  openUrl(url, context.process.environment, () => {});
}

export const handlers = { auth };
