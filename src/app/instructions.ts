import { isAbsolute, join, relative } from 'node:path';
import { frameInstructions } from '../workspace/instructions-frame.ts';
import { mayRead } from '../gate/may-read.ts';
import type { PrepareDeps } from '../runs/ports.ts';
import { RuntimeError } from '../schema/errors.ts';
import { type Instructions, instructionsName, type InstructionsSource } from '../schema/instructions.ts';
import { quote } from '../text/quote.ts';
import { escapeText } from '../view/escape.ts';
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
  input: Pick<RoomsInput, 'machine' | 'workspace' | 'trust' | 'secrets' | 'store'>,
): PrepareDeps['instructions'] {
  const { machine, workspace, trust, secrets, store } = input;
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

  const ofUser = (): readonly Instructions[] => {
    const read = readInstructions(join(machine.reinsHome, instructionsName), 'user', machine.uid);
    if (read.kind === 'missing') return [];
    return read.kind === 'unfit' ? withheld('user', read.reason) : given('user', read);
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
    if (isTakenUp(sha256, wanted)) return given('project', read);
    const why = 'nothing of this project is trusted yet';
    return withheld('project', why, `reins trust add ${quote(join(root, instructionsName))}`).map((one) => ({
      ...one,
      bytes: bytes.length,
    }));
  };

  return async (wanted) => {
    const own = wanted.asksFor('user') ? ofUser() : [];
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

function isBelow(directory: string, path: string): boolean {
  const inside = relative(directory, path);
  return inside !== '' && !inside.startsWith('..') && !isAbsolute(inside);
}
