/**
 * What `git config` writes, and which settings are only taste. All others ask (F3 of 11 §6.1): by many git starts a program,
 * or takes its settings, hooks or objects from elsewhere, and each version brings new ones.
 */
const taste = [
  /^(?:user|author|committer)\.(?:name|email|signingkey|useconfigonly)$/,
  /^(?:advice|color|column|feature|index|rerere|stash|tag|versionsort)\.[a-z0-9.-]+$/,
  /^(?:branch\.(?:autosetup(?:merge|rebase)|sort)|branch\..*\.(?:merge|rebase|description))$/s,
  /^(?:commit\.(?:gpgsign|verbose|cleanup|status)|checkout\.(?:defaultremote|guess|workers)|clone\.defaultremotename)$/,
  /^core\.(?:autocrlf|bigfilethreshold|eol|filemode|ignorecase|logallrefupdates|precomposeunicode|quotepath|safecrlf)$/,
  /^core\.(?:abbrev|commentchar|commitgraph|compression|longpaths|preloadindex|untrackedcache|whitespace)$/,
  /^diff\.(?:algorithm|colormoved(?:ws)?|context|interhunkcontext|mnemonicprefix|noprefix|renames|renamelimit|relative)$/,
  /^(?:fetch|pull|push)\.(?:all|autosetupremote|default|ff|followtags|parallel|prune|prunetags|rebase)$/,
  /^(?:format\.pretty|help\.autocorrect|init\.defaultbranch|log\.(?:abbrevcommit|date|decorate|follow|mailmap))$/,
  /^(?:merge\.(?:conflictstyle|ff|log|renames|stat)|rebase\.(?:abbreviatecommands|auto(?:squash|stash)|stat|updaterefs))$/,
  /^remote\..*\.(?:fetch|push|prune|prunetags|tagopt)$/s,
  /^status\.(?:branch|relativepaths|renames|short|showstash|showuntrackedfiles)$/,
] as const;

/** Options with a value behind them, with which nothing is written yet. */
const valued = /^(?:-f|--file|--blob|--type|--default|--comment|--value|--url)$/;
const reads = /^--(?:get\S*|li\S*|uns\S*|remove-section)$|^-l$/;
const readingActions = /^(?:get\S*|list|unset|remove-section)$/;
const editing = /^(?:-e|--ed\S*|--ren\S*|edit|rename-section)$/;

/**
 * The setting that `git config` with these words writes, where it is more than taste; null where it writes none.
 * @param words those behind `config`, with options
 */
export function writtenSetting(words: readonly string[]): string | null {
  // Options end with the first word that is none: git takes a `--get` behind it for a value.
  const first = words.findIndex((word, index) => !word.startsWith('-') && !valued.test(words[index - 1] ?? ''));
  const options = first === -1 ? words : words.slice(0, first);
  if (options.some((word) => reads.test(word)) || readingActions.test(words[first] ?? '')) return null;
  if (editing.test(words[first] ?? '') || options.some((word) => editing.test(word))) return 'whatever is asked for';
  // A word behind an option may be its value: each that looks like a name and has a word behind it counts.
  const named = words.filter((word) => !word.startsWith('-'));
  const setting = named.find(
    (word, index) => index + 1 < named.length && isName(word) && !isTaste(word, named[index + 1]),
  );
  return setting ?? null;
}

const isName = (word: string): boolean => /^[^.\s]+\.\S/.test(word);

function isTaste(name: string, value = ''): boolean {
  const folded = name.toLowerCase();
  if (folded === 'core.fsmonitor') return /^(?:false|no|off|0)$/i.test(value);
  // What a remote is named by may be a transport, and that starts a program.
  if (/^branch\..*\.(?:push)?remote$/s.test(folded)) return /^[\w.-]+$/.test(value);
  if (/^remote\..*\.(?:push)?url$/s.test(folded))
    return /^(?:https?:\/\/|(?:ssh:\/\/)?[\w.-]+@)[\w.-]+[:/][^\s:]*$/.test(value);
  return taste.some((pattern) => pattern.test(folded));
}
