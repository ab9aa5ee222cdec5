import { firstGroups } from '../text/first-groups.ts';
import { linesInCode } from './code-lines.ts';
import { each, type Reader, type Readers, spelled } from './file-reader.ts';
import { imageBuilders, runLines, serviceLines, startLines } from './image-files.ts';
import { settingLines } from './setting-lines.ts';

/** Files that tell a tool what to start in a notation of their own. */

/** What a pattern finds in such a file, line by line. */
const matching =
  (pattern: RegExp): Reader['lines'] =>
  (text) =>
    spelled(firstGroups(pattern, text, 256));

/** What stands behind such keys. */
export const settings = (keys: string): Reader['lines'] => {
  const linesOf = settingLines(keys);
  return (text) => spelled(linesOf(text));
};

/** Tasks of `cargo make`. */
export const cargoTasks: Reader = { found: /^Makefile\.toml$/, lines: settings('command|script') };

const image = /^(?:.+\.)?(?:Docker|Container)file(?:\..+)?$/i;
const building = ['build', 'buildx', 'bud', 'up'];
const starting = ['run', 'start', 'up', 'create'];

export const buildReaders: Readers = {
  ...each('gradle gradlew', {
    found: /\.gradle(?:\.kts)?$/,
    lines: (text) =>
      spelled([
        ...linesInCode('groovy', text).lines,
        ...firstGroups(/\b(?:commandLine|executable)\b[ \t(=]*["']([^"'\n]+)/g, text, 256),
      ]),
  }),
  ...each(
    [...imageBuilders].join(' '),
    // What stands behind `-f` is either of both, and the services name the images that are built.
    { found: image, behind: building, lines: (text) => spelled(runLines(text)) },
    { found: image, behind: starting, lines: (text) => spelled(startLines(text)) },
    { given: /^(?:-f|--file=?)/, behind: building, lines: (text) => spelled(runLines(text)) },
    {
      found: /^(?:docker-|podman-)?compose(?:\..+)?\.ya?ml$/,
      given: /^(?:-f|--file=?)/,
      within: /^[ \t]*dockerfile:[ \t]*["']?([^\s"']+)/gm,
      behind: [...building, ...starting],
      lines: (text) => spelled([...serviceLines(text), ...runLines(text)]),
    },
  ),
  ...each('mvn mvnw', {
    found: /^pom\.xml$/,
    lines: matching(/<(?:executable|exec)>\s*([^<]+)</g),
  }),
  ...each('cmake', {
    found: /^CMakeLists\.txt$|\.cmake$/,
    lines: matching(/\bCOMMAND\s+([^)\n]+)/g),
  }),
  ...each('foreman honcho overmind hivemind goreman', {
    found: /^Procfile/,
    lines: matching(/^[\w-]+:[ \t]*(.+)/gm),
  }),
  ...each('ansible-playbook', {
    operands: true,
    lines: matching(/^[ \t-]*(?:ansible\.builtin\.)?(?:shell|command|raw|cmd):[ \t]*["']?(.+?)["']?$/gm),
  }),
  ...each('nodemon', {
    found: /^nodemon\.json$/,
    lines: matching(/"exec"\s*:\s*"((?:[^"\\]|\\.)*)"/g),
  }),
  ...each('task', {
    found: /^taskfile(?:\.dist)?\.ya?ml$/i,
    // A task is a list of commands, or one beside its name.
    lines: matching(/^[ \t]*(?:-[ \t]+)?(?:(?!desc|summary|prompt|version|dir)[\w.:-]+:|-)[ \t]*["']?(.+?)["']?$/gm),
  }),
  ...each('lefthook', {
    found: /^\.?lefthook(?:-local)?\.ya?ml$/,
    lines: matching(/^[ \t]*run:[ \t]*["']?(.+?)["']?$/gm),
  }),
  ...each('bazel bazelisk buck buck2', {
    found: /^BUILD(?:\.bazel)?$|^BUCK$|\.bzl$/,
    lines: matching(/\b(?:cmd|bash)\s*=\s*["']+([^"'\n]+)/g),
  }),
  ...each('tox', { found: /^(?:tox\.ini|setup\.cfg|pyproject\.toml)$/, lines: settings('commands(?:_pre|_post)?') }),
  ...each('ninja samu', { found: /^build\.ninja$/, given: /^-f/, lines: settings('command') }),
  ...each('supervisord', {
    found: /^supervisord\.conf$/,
    given: /^(?:-c|--configuration=?)/,
    lines: settings('command'),
  }),
  ...each('terraform tofu', { found: /\.tf(?:\.json)?$/, lines: settings('command|program') }),
  ...each('mise', { found: /^\.?mise(?:\..+)?\.toml$/, lines: settings('run') }),
  ...each('poe', { found: /^pyproject\.toml$/, lines: settings('[\\w.-]+') }),
  ...each('pdm pipenv hatch pixi rye', {
    found: /^(?:pyproject|pixi|hatch)\.toml$|^Pipfile$/,
    behind: ['run'],
    lines: settings('[\\w.-]+'),
  }),
  ...each('dvc', { found: /^dvc\.yaml$/, lines: settings('cmd') }),
  ...each('snakemake', { found: /^Snakefile$|\.smk$/, given: /^(?:-s|--snakefile=?)/, lines: settings('shell') }),
  ...each('earthly', { found: /^Earthfile$/, lines: (text) => spelled(runLines(text)) }),
  ...each('process-compose', {
    found: /^process-compose\.ya?ml$/,
    given: /^(?:-f|--config=?)/,
    lines: settings('command'),
  }),
  ...each('goreleaser', { found: /^\.?goreleaser\.ya?ml$/, lines: settings('hooks|before|after|cmd|pre|post') }),
  ...each('pre-commit', { found: /^\.pre-commit-config\.yaml$/, lines: settings('entry') }),
  ...each('makers', cargoTasks),
  ...each('ant', { found: /^build\.xml$/, lines: matching(/\bexecutable\s*=\s*"([^"]+)"/g) }),
  ...each('nix nix-shell nix-build', {
    found: /\.nix$/,
    lines: matching(/\b(?:shellHook|\w+Phase|buildCommand)\s*=\s*(?:''|")([\s\S]{1,4096}?)(?:''|")/g),
  }),
};
