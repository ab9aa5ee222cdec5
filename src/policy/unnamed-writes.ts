import type { FoundCommand } from '../schema/command.ts';
import { baseName } from '../shell/programs.ts';
import { writtenSetting } from './git-settings.ts';

/**
 * Programs by which a protected file (F3 of 11 §6.1) is written that none of their words names: it is what they are for. Each
 * tells of which words, one behind the other, and which file that is.
 */
type Writes = readonly [readonly RegExp[], string];

const npm: readonly Writes[] = [
  [[/^(?:config|c)$/, /^(?:set|s|edit|delete|rm|fix)$/], '.npmrc'],
  [[/^(?:set|login|adduser|logout)$/], '.npmrc'],
];
const pip: readonly Writes[] = [[[/^config$/, /^(?:set|edit|unset)$/], 'pip.conf']];
const hooks = '.git/hooks';
const hooksOf: readonly Writes[] = [[[/^(?:un)?install$/], hooks]];

const lfs: readonly Writes[] = [
  [[/^(?:un)?track$/], '.gitattributes'],
  [[/^(?:un)?install$/], hooks],
];
const behindWord = (word: RegExp, all: readonly Writes[]): readonly Writes[] =>
  all.map(([words, file]) => [[word, ...words], file]);
const startUp = 'a start-up file of the shell';
const conda: readonly Writes[] = [
  [[/^init$/], startUp],
  [[/^shell$/, /^init$/], startUp],
];
/** Agents, whose settings say which tool servers they start. */
const agent = (file: string): readonly Writes[] => [
  [[/^mcp$/, /^(?:add|add-\S+|remove)$/], file],
  [[/^config$/, /^(?:set|add|remove)$/], file],
];

const writers: Readonly<Record<string, readonly Writes[]>> = {
  npm,
  pnpm: npm,
  yarn: [
    [[/^config$/, /^(?:set|delete|unset)$/], '.yarnrc'],
    [[/^set$/, /^version$/], '.yarnrc'],
    [[/^plugin$/, /^(?:import|remove)$/], '.yarnrc'],
  ],
  pip,
  pip3: pip,
  'pre-commit': hooksOf,
  lefthook: hooksOf,
  // Without a word they install.
  husky: [[[], '.husky']],
  'simple-git-hooks': [[[], hooks]],
  'git-lfs': lfs,
  conda,
  mamba: conda,
  micromamba: conda,
  direnv: [[[/^edit$/], '.envrc']],
  claude: agent('.claude'),
  codex: agent('.codex'),
  gemini: agent('.gemini'),
  git: [
    [[/^submodule$/, /^(?:add|set-url|set-branch)$/], '.gitmodules'],
    ...behindWord(/^lfs$/, lfs),
    [[/^maintenance$/, /^(?:start|stop|register|unregister)$/], 'the crontab of a user'],
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
  if (name === 'ssh-keygen') return texts.some((text) => /^-[A-Za-z]*[fFlyYB]/.test(text)) ? null : '.ssh';
  if (name === 'overcommit' || (name === 'git' && texts.includes('secrets'))) return installed(name, texts);
  if (name === 'curl') return texts.some((text, index) => isMade(text, texts[index - 1] ?? '')) ? madeName : null;
  const plain = texts.filter((text, index) => !text.startsWith('-') && !/^-[Cc]$/.test(texts[index - 1] ?? ''));
  if (variable === 'GIT_TEMPLATE_DIR' || takesTemplate(name, texts, plain))
    return `${hooks}, which git takes from a template`;
  if (name === 'git') {
    const setting = behind(texts, /^config$/)
      .map(writtenSetting)
      .find((each) => each !== null);
    if (setting !== undefined) return `.git/config, where git config sets ${setting}`;
  }
  for (const [words, file] of Object.hasOwn(writers, name) ? (writers[name] ?? []) : []) {
    const found = inOrder(texts, words);
    if (found !== null) return `${file}, which ${[name, ...found].join(' ')} writes`;
  }
  return null;
}

/**
 * The words behind each that fits and may stand first. What stands before it are options, and a word behind an option may
 * be its value or not: which options have one is a matter of versions.
 */
function behind(texts: readonly string[], word: RegExp): readonly (readonly string[])[] {
  const rests: (readonly string[])[] = [];
  for (const [index, text] of texts.entries()) {
    if (text.startsWith('-')) continue;
    if (word.test(text)) rests.push(texts.slice(index + 1));
    if (!/^-[^=]*$/.test(texts[index - 1] ?? '')) break;
  }
  return rests;
}

/** The words that fit one behind the other, with options and their values anywhere between; null where they do not. */
function inOrder(texts: readonly string[], [word, ...words]: readonly RegExp[]): readonly string[] | null {
  if (word === undefined) return [];
  for (const rest of behind(texts, word)) {
    const found = inOrder(rest, words);
    if (found !== null) return [texts[texts.length - rest.length - 1] ?? '', ...found];
  }
  return null;
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

const installed = (name: string, texts: readonly string[]): string | null =>
  texts.some((text) => /^(?:--install|-[a-z]*[if])$/.test(text)) ? `${hooks}, which ${name} --install writes` : null;

const enabled = (texts: readonly string[]): string | null =>
  texts.some((text) => /^(?:(?:re)?enable|link|edit|preset|mask)$/.test(text))
    ? '.config/systemd, which systemctl --user writes'
    : null;
