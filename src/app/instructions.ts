import { isAbsolute, join, relative } from 'node:path';
import { frameInstructions } from '../workspace/instructions-frame.ts';
import { mayRead } from '../gate/may-read.ts';
import type { InstructionsWatch } from '../gate/instructions-watch.ts';
import type { PrepareDeps } from '../runs/ports.ts';
import { RuntimeError } from '../schema/errors.ts';
import { type Instructions, instructionsName, type InstructionsSource } from '../schema/instructions.ts';
import { quote } from '../text/quote.ts';
import { escapeText } from '../view/escape.ts';
import { realOf } from '../workspace/paths.ts';
import { exists } from '../workspace/files.ts';
import { type InstructionsFile, readInstructions } from '../workspace/instructions.ts';
import type { RoomsInput } from './rooms-input.ts';

type Wanted = Parameters<PrepareDeps['instructions']>[0];
type Readable = InstructionsFile & { readonly kind: 'text' };

/**
 * What a run gets of files with instructions for agents: the user's own, and the project's where the project is one that
 * the user has taken up, and the policy lets a model read the file without a question.
 */
export function instructionsWith(
  input: Pick<RoomsInput, 'machine' | 'workspace' | 'trust' | 'secrets' | 'store'> & {
    readonly watch: Pick<InstructionsWatch, 'withheld'>;
  },
): PrepareDeps['instructions'] {
  const { machine, workspace, trust, secrets, store, watch } = input;
  const { root } = workspace;

  const withheld = (source: InstructionsSource, why: string, mend: string | null = null): readonly Instructions[] => [
    { source, bytes: 0, cut: false, withheld: why, mend, text: '' },
  ];

  const given = (source: InstructionsSource, { text, cut, file }: Readable): readonly Instructions[] => {
    // What a person does not see when he reads the file, a model sees no other way.
    const shown = escapeText(secrets.maskKnown(text).text, { mode: 'prose' });
    const framed = frameInstructions(source, shown);
    return [{ source, bytes: file.bytes.length, cut, withheld: null, mend: null, text: framed }];
  };

  /** What a call put there, unless the user has named that text for this run. */
  const givenIfOwn = (
    source: InstructionsSource,
    path: string,
    read: Readable,
    accepted: Wanted['accepted'],
  ): readonly Instructions[] => {
    const { bytes, sha256 } = read.file;
    const text = accepted.includes(sha256) ? null : watch.withheld(path, sha256);
    if (text === null) return given(source, read);
    const how = text.by === null ? 'while a call was running' : `by ${quoted(text.by)}`;
    const why = `it was changed ${how}, and no question named it`;
    return withheld(source, why, `reins trust add ${quote(realOf(path))}`).map((one) => ({
      ...one,
      bytes: bytes.length,
    }));
  };

  const ofUser = ({ accepted }: Wanted): readonly Instructions[] => {
    const path = join(machine.reinsHome, instructionsName);
    const read = readInstructions(path, 'user', machine.uid);
    if (read.kind === 'missing') return [];
    return read.kind === 'unfit' ? withheld('user', read.reason) : givenIfOwn('user', path, read, accepted);
  };

  /** Whether the user has decided for anything of this workspace, by `init` or `trust`; `--trust` counts once. */
  const isTakenUp = (sha256: string, { accepted, used }: Wanted): boolean =>
    accepted.some((hash) => hash === sha256 || used.includes(hash)) ||
    trust.list().some((entry) => entry.root === root);

  const ofProject = async (wanted: Wanted): Promise<readonly Instructions[]> => {
    if (!store.settings.value('project-instructions') || !exists(join(root, instructionsName))) return [];
    const { refused, real, identity } = await mayRead(wanted.loaded, wanted.host(root), instructionsName);
    if (!isBelow(root, real)) return withheld('project', 'it is a link that leads out of the workspace');
    if (wanted.confinedTo !== null && !isBelow(wanted.confinedTo, real)) {
      return withheld('project', 'it is outside of --local-exec-allowed-dir');
    }
    if (refused !== null) return withheld('project', refused);
    const read = readInstructions(real, 'project', machine.uid);
    if (read.kind === 'missing') return [];
    if (read.kind === 'unfit') return withheld('project', read.reason);
    if (identity === null || !read.file.identity.startsWith(`${identity}:`)) {
      return withheld('project', 'it was replaced while it was looked at');
    }
    const { bytes, sha256 } = read.file;
    const path = join(root, instructionsName);
    if (isTakenUp(sha256, wanted)) return givenIfOwn('project', path, read, wanted.accepted);
    const why = 'nothing of this project is trusted yet';
    return withheld('project', why, `reins trust add ${quote(path)}`).map((one) => ({
      ...one,
      bytes: bytes.length,
    }));
  };

  return async (wanted) => {
    const own = wanted.asksFor('user') ? ofUser(wanted) : [];
    if (!wanted.asksFor('project')) return own;
    try {
      return [...own, ...(await ofProject(wanted))];
    } catch (error) {
      // The file of trust decisions may not be believed.
      if (!(error instanceof RuntimeError)) throw error;
      return [...own, ...withheld('project', error.message.replace(/\.$/, ''), error.hints[0] ?? null)];
    }
  };
}

/** Most of the words of a call that a line about it has room for. */
const mostWords = 80;

/** A call by its words, which are a model's. */
function quoted(by: string): string {
  const line = escapeText(by, { mode: 'line' });
  return line.length > mostWords ? `${line.slice(0, mostWords)}…` : line;
}

function isBelow(directory: string, path: string): boolean {
  const inside = relative(directory, path);
  return inside !== '' && !inside.startsWith('..') && !isAbsolute(inside);
}
