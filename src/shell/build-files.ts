import { firstGroups } from '../text/first-groups.ts';
import { linesInCode } from './code-lines.ts';
import { each, own, type Reader, spelled } from './file-reader.ts';
import { imageBuilders } from './image-files.ts';

/** Files that tell a tool what to start in a notation of their own. */

/** What a pattern finds in such a file, line by line. */
const matching =
  (pattern: RegExp): Reader['lines'] =>
  (text) =>
    spelled(firstGroups(pattern, text, 256));

export const buildReaders: Readonly<Record<string, Reader>> = {
  ...each('gradle gradlew', {
    found: /\.gradle(?:\.kts)?$/,
    lines: (text) =>
      spelled([
        ...linesInCode('groovy', text).lines,
        ...firstGroups(/\b(?:commandLine|executable)\b[ \t(=]*["']([^"'\n]+)/g, text, 256),
      ]),
  }),
  ...each([...imageBuilders].join(' '), {
    found: /^(?:.+\.)?(?:Docker|Container)file(?:\..+)?$/i,
    given: /^(?:-f|--file=?)/,
    behind: ['build', 'buildx', 'bud', 'up'],
    lines: own,
  }),
  ...each('mvn mvnw', {
    found: /^pom\.xml$/,
    lines: matching(/<(?:executable|exec)>\s*([^<]+)</g),
  }),
  cmake: {
    found: /^CMakeLists\.txt$|\.cmake$/,
    lines: matching(/\bCOMMAND\s+([^)\n]+)/g),
  },
  ...each('foreman honcho overmind hivemind', {
    found: /^Procfile/,
    lines: matching(/^[\w-]+:[ \t]*(.+)/gm),
  }),
  'ansible-playbook': {
    operands: true,
    lines: matching(/^[ \t-]*(?:ansible\.builtin\.)?(?:shell|command|raw|cmd):[ \t]*["']?(.+?)["']?$/gm),
  },
  nodemon: {
    found: /^nodemon\.json$/,
    lines: matching(/"exec"\s*:\s*"((?:[^"\\]|\\.)*)"/g),
  },
  task: {
    found: /^taskfile(?:\.dist)?\.ya?ml$/i,
    lines: matching(/^[ \t]*(?:-[ \t]+)?(?:cmd:|sh:|-)[ \t]*["']?(.+?)["']?$/gm),
  },
  lefthook: { found: /^\.?lefthook(?:-local)?\.ya?ml$/, lines: matching(/^[ \t]*run:[ \t]*["']?(.+?)["']?$/gm) },
  ...each('bazel bazelisk buck buck2', {
    found: /^BUILD(?:\.bazel)?$|^BUCK$|\.bzl$/,
    lines: matching(/\b(?:cmd|bash)\s*=\s*["']+([^"'\n]+)/g),
  }),
  ant: { found: /^build\.xml$/, lines: matching(/\bexecutable\s*=\s*"([^"]+)"/g) },
  ...each('nix nix-shell nix-build', {
    found: /\.nix$/,
    lines: matching(/\b(?:shellHook|\w+Phase|buildCommand)\s*=\s*(?:''|")([\s\S]{1,4096}?)(?:''|")/g),
  }),
};
