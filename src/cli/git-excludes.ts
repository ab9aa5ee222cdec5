import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/**
 * What git leaves alone by rules that stand in no `.gitignore`: those of the user (`core.excludesFile`) and those of
 * one clone (`.git/info/exclude`). Never throws: a file that cannot be read has no rules.
 */
export function gitExcludes(
  environment: Readonly<Record<string, string | undefined>>,
  home: string,
  root: string,
): string {
  const configs = join(environment['XDG_CONFIG_HOME'] || join(home, '.config'), 'git');
  const named = [join(home, '.gitconfig'), join(configs, 'config')].map((path) => excludesFile(textOf(path)));
  const own = named.find((path) => path !== null) ?? join(configs, 'ignore');
  return [textOf(resolve(home, own.replace(/^~\//, `${home}/`))), textOf(join(root, '.git/info/exclude'))].join('\n');
}

/** The last one counts, as for git. */
function excludesFile(config: string): string | null {
  let section = '';
  let path: string | null = null;
  for (const line of config.split('\n')) {
    section = /^\s*\[([^\]]*)\]/.exec(line)?.[1]?.trim().toLowerCase() ?? section;
    const value = /^\s*excludesfile\s*=\s*(.*?)\s*$/i.exec(line)?.[1];
    if (section === 'core' && value !== undefined) path = value.replace(/^"(.*)"$/, '$1');
  }
  return path === '' ? null : path;
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
