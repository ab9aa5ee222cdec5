import { otherDocument } from '../schema/document-kinds.ts';
import type { Policy } from '../schema/policy.ts';
import { isObject } from '../text/json-object.ts';
import { readAttention, readCompute, readTrustedBinaries } from './blocks.ts';
import type { Findings } from './findings.ts';
import { type Members, readMembers } from './members.ts';
import { readAction, readRule } from './rules.ts';

const known = new Set(['version', 'default_action', 'rules', 'compute', 'attention', 'trusted_binaries']);
const maxRules = 2000;

/** Reads a document (02 §2): findings for what breaks a rule, defaults for what is absent, null or broken. */
export function readDocument(value: unknown, findings: Findings): Policy {
  const other = isObject(value) ? otherDocument('policy', Object.keys(value)) : null;
  if (other !== null) findings.add('$', 'unknown_member', `${other.message}; ${other.next('<file>')}`);
  const members = other === null ? readMembers(value, '$', known, findings) : null;
  /** At the top level null is absent. */
  const present = (name: string): boolean => (members?.get(name) ?? null) !== null;
  if (members !== null && present('version')) checkVersion(members, findings);
  const rules = members !== null && present('rules') ? members.list('rules', maxRules) : undefined;
  return {
    version: 1,
    default_action:
      members !== null && present('default_action')
        ? (readAction(members, 'default_action', findings) ?? 'approve')
        : 'approve',
    rules: (rules ?? []).map((rule, index) => readRule(rule, `$.rules[${index}]`, findings)),
    compute: readCompute(present('compute') ? members?.get('compute') : undefined, '$.compute', findings),
    attention: readAttention(present('attention') ? members?.get('attention') : undefined, '$.attention', findings),
    trusted_binaries: present('trusted_binaries')
      ? readTrustedBinaries(members?.get('trusted_binaries'), '$.trusted_binaries', findings)
      : null,
  };
}

function checkVersion(members: Members, findings: Findings): void {
  const version = members.integer('version');
  if (version === undefined || version === 0 || version === 1) return;
  findings.add('$.version', 'unsupported_version', `is ${version}; this program reads version 1`);
}
