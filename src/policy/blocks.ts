import type { AttentionBounds, ComputeBounds, OnExhausted, TrustedBinaries } from '../schema/policy.ts';
import { dataPath } from '../text/strict-json.ts';
import { exceedsBytes } from '../text/utf8.ts';
import type { Findings } from './findings.ts';
import { kindOf, type Members, readMembers } from './members.ts';

const computeMembers = new Set([
  'maxTurns',
  'maxToolCalls',
  'maxTokens',
  'modelAllowlist',
  'backendAllowlist',
  'onExhausted',
]);
const attentionMembers = new Set(['allowAgentAnswers', 'maxAgentAnswers', 'allowAgentApprovals', 'maxAgentApprovals']);
const trustMembers = new Set(['dirs', 'hashes']);

const exhaustion: Readonly<Record<string, OnExhausted>> = {
  fail: 'fail',
  ask: 'ask',
  finish: 'finish',
  finish_stuck: 'finish',
};

/** What an absent block means (02 §11, §12). */
const unbounded: ComputeBounds = {
  maxTurns: 0,
  maxToolCalls: 0,
  maxTokens: 0,
  modelAllowlist: [],
  backendAllowlist: [],
  onExhausted: 'fail',
};
export const humanOnly: AttentionBounds = {
  allowAgentAnswers: false,
  maxAgentAnswers: 0,
  allowAgentApprovals: false,
  maxAgentApprovals: 0,
};

/** 02 §11. `undefined` is an absent block. */
export function readCompute(value: unknown, path: string, findings: Findings): ComputeBounds {
  const members = value === undefined ? null : readMembers(value, path, computeMembers, findings);
  if (members === null) return unbounded;
  const word = members.text('onExhausted');
  const onExhausted = word !== undefined && Object.hasOwn(exhaustion, word) ? exhaustion[word] : undefined;
  if (word !== undefined && onExhausted === undefined) {
    findings.add(
      members.pathOf('onExhausted'),
      'bad_action',
      `is ${JSON.stringify(word.slice(0, 40))}; write fail, ask or finish`,
    );
  }
  return {
    maxTurns: bounded(members, 'maxTurns', 100_000, findings),
    maxToolCalls: bounded(members, 'maxToolCalls', 10_000_000, findings),
    maxTokens: bounded(members, 'maxTokens', 100_000_000_000, findings),
    modelAllowlist: readNames(members, 'modelAllowlist', findings),
    backendAllowlist: readNames(members, 'backendAllowlist', findings),
    onExhausted: onExhausted ?? 'fail',
  };
}

/** 02 §12. */
export function readAttention(value: unknown, path: string, findings: Findings): AttentionBounds {
  const members = value === undefined ? null : readMembers(value, path, attentionMembers, findings);
  if (members === null) return humanOnly;
  return {
    allowAgentAnswers: members.boolean('allowAgentAnswers') ?? false,
    maxAgentAnswers: bounded(members, 'maxAgentAnswers', 1000, findings),
    allowAgentApprovals: members.boolean('allowAgentApprovals') ?? false,
    maxAgentApprovals: bounded(members, 'maxAgentApprovals', 1000, findings),
  };
}

function bounded(members: Members, name: string, limit: number, findings: Findings): number {
  const value = members.integer(name) ?? 0;
  if (value < 0 || value > limit)
    findings.add(members.pathOf(name), 'out_of_range', `is ${value}, must be 0 to ${limit}`);
  return value;
}

/** Entries of an allowlist, trimmed. */
function readNames(members: Members, name: string, findings: Findings): readonly string[] {
  const list = members.list(name, 256) ?? [];
  return list.flatMap((entry, index) => {
    const path = `${members.pathOf(name)}[${index}]`;
    if (typeof entry !== 'string') {
      findings.add(path, 'wrong_type', `must be a text, not ${kindOf(entry)}`);
      return [];
    }
    if (entry.trim() === '') findings.add(path, 'bad_operand', 'must not be blank');
    else if (exceedsBytes(entry, 512)) findings.add(path, 'bad_operand', 'is longer than 512 bytes');
    return [entry.trim()];
  });
}

/** 02 §10, its shape only. Names inside `hashes` are data: annotations do not exist there. */
export function readTrustedBinaries(value: unknown, path: string, findings: Findings): TrustedBinaries {
  const members = readMembers(value, path, trustMembers, findings);
  if (members === null) return { dirs: [], hashes: {} };
  const dirs = (members.list('dirs', 256) ?? []).flatMap((entry, index) => {
    const place = `${members.pathOf('dirs')}[${index}]`;
    if (typeof entry !== 'string') {
      findings.add(place, 'wrong_type', `must be a text, not ${kindOf(entry)}`);
      return [];
    }
    const problem = pathProblem(entry);
    if (problem !== null) findings.add(place, 'bad_path', problem);
    return [entry];
  });
  return { dirs, hashes: readHashes(members, findings) };
}

function readHashes(members: Members, findings: Findings): Readonly<Record<string, string>> {
  const value = members.get('hashes');
  const path = members.pathOf('hashes');
  if (value === undefined) return {};
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    findings.add(path, 'wrong_type', `must be an object, not ${kindOf(value)}`);
    return {};
  }
  const entries: [string, unknown][] = Object.entries(value);
  if (entries.length > 8192) findings.add(path, 'too_many', `has ${entries.length} entries, at most 8192 are allowed`);
  const hashes: [string, string][] = [];
  for (const [file, digest] of entries.slice(0, 8192)) {
    const place = dataPath(path, file);
    const problem = pathProblem(file);
    if (problem !== null) findings.add(place, 'bad_path', problem);
    if (typeof digest !== 'string') findings.add(place, 'wrong_type', `must be a text, not ${kindOf(digest)}`);
    else if (!/^[0-9A-Fa-f]{64}$/.test(digest)) findings.add(place, 'bad_digest', 'must be 64 hexadecimal digits');
    else hashes.push([file, digest.toLowerCase()]);
  }
  return Object.fromEntries(hashes);
}

function pathProblem(path: string): string | null {
  if (path === '') return 'must not be empty';
  if (path.includes('\0')) return 'holds U+0000';
  if (!/^(\/|[A-Za-z]:[\\/]|\\\\)/.test(path)) return 'must be an absolute path; ~ is not read here';
  return exceedsBytes(path, 4096) ? 'is longer than 4096 bytes' : null;
}
