import type { CommandTables, OptionTable } from '../schema/command-tables.ts';

/**
 * Options of programs of which some words are texts, beyond what the shipped tables grant: only what tells a text from a path
 * is here, and nothing is granted by it. `read` is a value that names a file, or chooses files by their names.
 */

const words = (text: string): readonly string[] => text.split(/\s+/);
const read = (names: string) => words(names).map((name) => ({ name, kind: 'read' as const }));
const optional = (names: string) => words(names).map((name) => ({ name, kind: 'text' as const, optional: true }));

const grep: OptionTable = {
  flags: words(
    `-E -F -G -P -H -L -c -h -i -l -n -o -q -r -R -s -v -w -x -z -a -b -I -T -U -Z -y --extended-regexp --fixed-strings
    --basic-regexp --perl-regexp --ignore-case --no-ignore-case --invert-match --word-regexp --line-regexp --count
    --files-without-match --files-with-matches --only-matching --quiet --silent --no-messages --byte-offset --with-filename
    --no-filename --initial-tab --line-number --null --text --recursive --dereference-recursive --null-data --line-buffered`,
  ),
  values: [
    ...words(
      `-A -B -C -m -e -D -d --after-context --before-context --context --max-count --regexp --exclude
      --exclude-dir --label --binary-files --directories --devices`,
    ),
    ...optional('--color --colour'),
    ...read('-f --file --exclude-from --include'),
  ],
  numeric: true,
  first: 'text',
  first_unless: words('-e -f --regexp --file'),
  operands: 'read',
};

const ripgrep: OptionTable = {
  flags: words(
    `-F -S -U -c -i -l -n -N -o -s -v -w -x -a -u -H -I -L -P -p -q -z -0 --files --fixed-strings --smart-case --multiline
    --multiline-dotall --count --count-matches --ignore-case --files-with-matches --files-without-match --line-number
    --no-line-number --only-matching --case-sensitive --invert-match --word-regexp --line-regexp --text --unrestricted
    --with-filename --no-filename --follow --pcre2 --pretty --quiet --search-zip --hidden --heading --no-heading --json --stats
    --no-ignore --no-ignore-vcs --vimgrep --column --trim --null --no-config --no-messages --passthru`,
  ),
  values: [
    ...words(
      `-A -B -C -m -e -t -T -M -d -j -r -E --after-context --before-context --context --max-count --regexp
      --type --type-not --max-columns --max-depth --threads --replace --sort --sortr --color --colors --context-separator
      --max-filesize --encoding --engine`,
    ),
    ...read('-f --file --ignore-file -g --glob --iglob'),
  ],
  first: 'text',
  first_unless: words('-e -f --regexp --file --files'),
  operands: 'read',
};

const silver: OptionTable = {
  flags: words(
    `-a -c -H -h -i -l -L -n -Q -r -R -s -S -t -u -U -v -w -x --hidden --nogroup --group --literal --nocolor --color --nobreak
    --break --heading --noheading --nofilename --files-with-matches --files-without-matches --ignore-case --word-regexp
    --count --column --vimgrep --smart-case --unrestricted --all-types`,
  ),
  values: [
    ...words(
      '-A -B -C -G -m --ignore --ignore-dir --ignore-file --depth --max-count --after --before --context --type',
    ),
    ...read('-p'),
  ],
  first: 'text',
  operands: 'read',
};

const history = {
  extends: 'git-show-options',
  numeric: true,
  flags: words(
    `-i -E -F -P -c -m -z --cc --pickaxe-all --pickaxe-regex --all-match --invert-grep --regexp-ignore-case --abbrev-commit
    --full-history --left-right --cherry-pick --no-patch --date-order --topo-order --no-decorate --branches --tags --remotes
    --extended-regexp --fixed-strings --perl-regexp --patch`,
  ),
  values: words('-S -G --committer --before --after --max-count --skip --diff-filter'),
  operands: 'rev',
} as const;

const message = [...words('-m --message'), ...read('-F --file')];

const git: OptionTable = {
  extends: 'git',
  globals: words('--no-pager -P --paginate -p --literal-pathspecs --no-optional-locks'),
  subcommands: {
    grep: {
      ...grep,
      flags: words(
        `-n -i -l -w -E -F -G -P -c -h -H -L -o -q -r -v -a -I -p -W --cached --untracked --no-index --recurse-submodules
        --name-only --files-with-matches --files-without-match --line-number --ignore-case --word-regexp --fixed-strings
        --extended-regexp --perl-regexp --count --all-match --break --heading --show-function --function-context --full-name
        --column --exclude-standard --no-exclude-standard --text --quiet --only-matching --and --or --not`,
      ),
      values: [...words('-e -A -B -C -m --max-depth --max-count --threads'), ...optional('--color'), ...read('-f')],
      first_unless: words('-e -f'),
    },
    commit: {
      flags: words(
        `-a -v -q -s -n -p -o -i -e -z --all --amend --no-edit --edit --no-verify --signoff --quiet --verbose --allow-empty
        --allow-empty-message --dry-run --short --porcelain --patch --only --include --no-gpg-sign --reset-author --no-status
        --status`,
      ),
      values: [
        ...message,
        ...words('--author --date --cleanup --trailer -C -c --reuse-message --reedit-message --fixup --squash'),
        ...optional('-S --gpg-sign -u --untracked-files'),
        ...read('-t --template --pathspec-from-file'),
      ],
      operands: 'read',
    },
    tag: {
      flags: words('-a -s -f -d -v -l -i --annotate --sign --force --delete --list --verify'),
      values: [...message, ...words('-u --local-user --sort --format --contains --points-at --cleanup')],
      operands: 'rev',
    },
    merge: {
      flags: words(
        '-q -v -n --no-ff --ff --ff-only --squash --no-commit --no-edit --no-verify --signoff --stat --no-stat',
      ),
      values: [...message, ...words('-s -X --strategy --strategy-option')],
      operands: 'rev',
    },
    stash: {
      subcommands: {
        push: {
          flags: words('-k -u -a -q -p -S --keep-index --include-untracked --all --quiet --patch --staged'),
          values: words('-m --message'),
          operands: 'read',
        },
        save: { flags: words('-k -u -a -q -p --keep-index --include-untracked --all --quiet'), operands: 'text' },
      },
    },
    log: history,
    show: history,
    diff: history,
    'rev-list': history,
  },
};

export const textTables: CommandTables = {
  format: 1,
  programs: { grep, egrep: grep, fgrep: grep, rg: ripgrep, ag: silver, ack: silver, git },
};

/** Own options of programs that hand their other words to a command as they are. */
export const handingTables: Readonly<Record<string, OptionTable>> = {
  xargs: {
    flags: words('-0 -o -r -t -x --null --no-run-if-empty --verbose --exit'),
    values: words('-d -E -I -J -L -n -P -s -R --delimiter --max-lines --max-args --max-procs --max-chars'),
    operands: 'none',
  },
  timeout: {
    flags: words('-f -p -v --foreground --preserve-status --verbose'),
    values: words('-k -s --kill-after --signal'),
    operands: 'text',
  },
  nice: { values: words('-n --adjustment'), operands: 'none' },
  nohup: { operands: 'none' },
  time: { flags: words('-p'), operands: 'none' },
  command: { flags: words('-p'), operands: 'none' },
  stdbuf: { values: words('-i -o -e --input --output --error'), operands: 'none' },
};
