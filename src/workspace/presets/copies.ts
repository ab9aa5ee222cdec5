import type { LoadedPolicy } from '../../schema/policy.ts';
import { sha256Of } from '../files.ts';
import { isPresetName, type PresetName, presetDocument, presetPolicy, presetText } from './policies.ts';

/** A preset as a policy that is read. */
export function shippedPolicy(name: PresetName): LoadedPolicy {
  const text = presetText(name);
  return {
    identity: { name, source: 'builtin', path: null, sha256: sha256Of(text), state: 'ok' },
    policy: presetPolicy(name),
    text,
    findings: [],
  };
}

/** An annotation (02 §2) of a copied preset: its name, and which one of that name it was (amendment 23). */
const mark = '//preset';

const versionOf = (name: PresetName): string => sha256Of(presetText(name)).slice(0, 12);

/** A preset as a document of one's own, which says what it was copied from. */
export const copyOfPreset = (name: PresetName): string =>
  `${JSON.stringify({ [mark]: `${name} ${versionOf(name)}`, ...presetDocument(name) }, null, 2)}\n`;

/** The preset that a document was copied from, where the one that is shipped now is another one; else null. */
export function changedPreset(text: string): PresetName | null {
  const [, name = '', version = ''] = /^(\S+) ([0-9a-f]{12})$/.exec(markOf(text)) ?? [];
  return isPresetName(name) && versionOf(name) !== version ? name : null;
}

function markOf(text: string): string {
  try {
    const document: unknown = JSON.parse(text.replace(/^\uFEFF/, ''));
    return String(Reflect.get(Object(document), mark));
  } catch {
    // What cannot be read is told as that.
    return '';
  }
}
