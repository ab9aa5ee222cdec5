import type { FoundCommand } from '../schema/command.ts';
import { baseName } from '../shell/programs.ts';
import { startsProgram } from './git.ts';

/**
 * Programs by which a protected file (F3 of 11 §6.1) is written that none of their words names: it is what they are for. Each
 * tells of the words behind it, options left out, which file that is.
 */
type Writes = readonly [RegExp, string];

const npm: readonly Writes[] = [[/^(?:config|c) (?:set|s|edit|delete|rm|fix)\b|^set\b/, '.npmrc']];
const pip: readonly Writes[] = [[/^config (?:set|edit|unset)\b/, 'pip.conf']];
const hooks = '.git/hooks';

const writers: Readonly<Record<string, readonly Writes[]>> = {
  npm,
  pnpm: npm,
  yarn: [[/^config (?:set|delete|unset)\b/, '.yarnrc']],
  pip,
  pip3: pip,
  'pre-commit': [[/^(?:un)?install\b/, hooks]],
  lefthook: [[/^(?:un)?install\b/, hooks]],
  husky: [[/^(?:(?:un)?install\b|init\b|add\b|set\b|$)/, '.husky']],
  git: [
    [/^submodule (?:add|set-url|set-branch)\b/, '.gitmodules'],
    [/^lfs (?:un)?track\b/, '.gitattributes'],
    [/^lfs (?:un)?install\b/, hooks],
    [/^maintenance (?:start|stop|register|unregister)\b/, 'the crontab of a user'],
  ],
};

/** The protected file that a command writes without naming it, and by what; null for any other command. */
export function unnamedWrite({ words: [program, ...rest], variable }: FoundCommand): string | null {
  const name = baseName(program?.text ?? '');
  const texts = rest.map(({ text }) => text);
  if (name === 'crontab') return texts.some((text) => /^-[a-z]*l/.test(text)) ? null : 'the crontab of a user';
  if (name === 'at' || name === 'batch') return texts.some((text) => /^-[lrdc]/.test(text)) ? null : 'the queue of at';
  if (name === 'systemd-run' && texts.some((text) => /^--(?:on-|timer)/.test(text))) return 'a timer of systemd';
  if (name === 'systemctl') return texts.includes('--user') ? enabled(texts) : null;
  if (name === 'curl') return texts.some((text, index) => isMade(text, texts[index - 1] ?? '')) ? madeName : null;
  const plain = texts.filter((text, index) => !text.startsWith('-') && !/^-[Cc]$/.test(texts[index - 1] ?? ''));
  if (variable === 'GIT_TEMPLATE_DIR' || takesTemplate(name, texts, plain))
    return `${hooks}, which git takes from a template`;
  if (name === 'git' && plain[0] === 'config') return configured(texts, plain.slice(1));
  const own = Object.hasOwn(writers, name) ? writers[name] : undefined;
  const line = plain.join(' ');
  const [pattern, file] = own?.find(([one]) => one.test(line)) ?? [];
  return pattern === undefined
    ? null
    : `${file}, which ${name} ${pattern.exec(line)?.[0] ?? ''} writes`.replace('  ', ' ');
}

/** `git commit` names a message by the same option; `--templ` is what `git` takes it for as well. */
const takesTemplate = (name: string, texts: readonly string[], plain: readonly string[]): boolean =>
  texts.some((text) =>
    name === 'git'
      ? /^init\.templatedir=./i.test(text) ||
        (plain[0] !== 'commit' && /^--te(?:m(?:p(?:l(?:a(?:te?)?)?)?)?)?(?:=|$)/.test(text))
      : /^GIT_TEMPLATE_DIR=./.test(text),
  );

const madeName = 'a file whose name curl makes of what it gets';

/** `-o '#1/x'`: a part of the address. `-w '%output{x}'`: whatever curl prints. */
const isMade = (text: string, before: string): boolean =>
  /%output\{/.test(text) ||
  (/#[0-9]/.test(text) &&
    /^(?:-[A-Za-z]*o|--output)(?:$|=|(?<=o).)/.test(/^(?:-[A-Za-z]*o|--output)$/.test(before) ? before : text));

const enabled = (texts: readonly string[]): string | null =>
  texts.some((text) => /^(?:(?:re)?enable|link|edit|preset|mask)$/.test(text))
    ? '.config/systemd, which systemctl --user writes'
    : null;

/** A setting by which `git` starts a program; with no value behind it, it is only read. */
function configured(texts: readonly string[], plain: readonly string[]): string | null {
  const words = /^(?:set|replace-all|add)$/.test(plain[0] ?? '') ? plain.slice(1) : plain;
  const [key = '', value] = words;
  if (value === undefined || texts.some((text) => /^--(?:get|unset|list|remove)/.test(text))) return null;
  return startsProgram({ key, value }) ? `.git/config, where git config sets ${key}` : null;
}
