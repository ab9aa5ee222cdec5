import { dirname } from 'node:path';
import type { BinaryState } from '../schema/policy.ts';
import type { SetupIssue } from '../schema/registry.ts';
import { mostAttempts } from '../schema/run-record.ts';
import type { Inspection } from './inspection.ts';
import { issue } from './issue.ts';
import { type OwnFindings, ownIssues } from './own-issues.ts';
import { quote, quoteAll } from '../text/quote.ts';

/** The codes of 06 §15 beside those of readiness, in the order of that table. */
export function doctorIssues(found: Inspection, own: OwnFindings): readonly SetupIssue[] {
  return [
    ...projectIssues(found),
    ...databaseIssues(found),
    ...directoryIssues(found),
    ...policyIssues(found),
    ...recordIssues(found),
    ...ownIssues(own),
  ];
}

function* projectIssues(found: Inspection): Generator<SetupIssue> {
  if (found.dataDir === null) {
    yield issue({
      code: 'no_project',
      severity: found.servesNoChats ? 'error' : 'info',
      category: 'storage',
      message: `There is no .reins directory here or above${
        found.servesNoChats ? ', so no chat can begin: make it, and start the server again' : ''
      }.`,
      cliCommand: 'reins init',
    });
  } else if (!found.hasRunChain) {
    yield issue({
      code: 'default_run_chain_missing',
      severity: 'warning',
      category: 'storage',
      message: `The data directory ${found.dataDir} has no default-run-chain.json.`,
      fixPath: '/chains',
      cliCommand: 'reins init',
      subject: found.dataDir,
    });
  }
  for (const { path, defect } of found.invalidChains) {
    yield issue({
      code: 'chain_invalid',
      severity: 'error',
      category: 'storage',
      message: `The chain ${path} does not load: ${defect}`,
      fixPath: '/chains',
      cliCommand: `reins chain vet ${quote(path)}`,
      subject: path,
    });
  }
  for (const { path, caution } of found.cautiousChains) {
    yield issue({
      code: 'chain_warnings',
      severity: 'warning',
      category: 'storage',
      message: `The chain ${path} has ${caution}.`,
      fixPath: '/chains',
      cliCommand: `reins chain vet ${quote(path)}`,
      subject: path,
    });
  }
  if (found.trustFault !== null) {
    const { message, mend } = found.trustFault;
    yield issue({
      code: 'chain_invalid',
      severity: 'error',
      category: 'storage',
      message: `No chain of this project loads: ${message}`,
      ...(mend === null ? {} : { cliCommand: mend }),
      subject: found.dataDir ?? found.root,
    });
  }
  for (const { kind, path } of found.untrusted) {
    // A run under another policy than its project has would be judged by what nobody chose: none starts (06 §6.5).
    const [severity, until] =
      kind === 'policy'
        ? (['error', 'no run starts until it is trusted or removed'] as const)
        : (['warning', 'what it is for does not start until it is trusted or removed'] as const);
    yield issue({
      code: 'content_untrusted',
      severity,
      category: 'security',
      message: `The ${kind} ${path} of this project is not trusted: ${until}.`,
      cliCommand: `reins trust add ${quote(path)}`,
      subject: path,
    });
  }
}

/** Below this much room `doctor` warns (06 §15). */
const lowMiB = 100;

function* databaseIssues({ database, unwritable }: Inspection): Generator<SetupIssue> {
  const { problem, auditBreak, damagedSessions, path, freeBytes } = database;
  const freeMiB = Math.floor(freeBytes / (1024 * 1024));
  if (freeMiB < lowMiB) {
    yield issue({
      code: 'disk_low',
      severity: 'warning',
      category: 'storage',
      message: `The disk of the database ${path} has ${freeMiB} MiB left; what cannot be written down is not run.`,
      cliCommand: `df -h ${quote(dirname(path))}`,
      subject: path,
    });
  }
  if (auditBreak !== null) {
    yield issue({
      code: 'audit_broken',
      severity: 'error',
      category: 'security',
      message: `The audit log does not verify: ${auditBreak}.`,
      cliCommand: 'reins audit verify',
      subject: path,
    });
  }
  for (const { name, messages } of damagedSessions) {
    yield issue({
      code: 'database_corrupt',
      severity: 'warning',
      category: 'storage',
      message: `${messages} ${messages === 1 ? 'message' : 'messages'} of the session "${name}" cannot be read; no model gets them.`,
      cliCommand: `reins session show ${name}`,
      subject: name,
    });
  }
  // The directory that cannot be written is the cause, and is told below.
  const isTold = (unwritable.dataDir ?? unwritable.home) !== null;
  if (problem === null && unwritable.database !== null && !isTold) {
    yield issue({
      code: 'database_unusable',
      severity: 'error',
      category: 'storage',
      message: `The database ${unwritable.database} can be read and not written: no run can begin.`,
      cliCommand: `chmod 600 ${quote(unwritable.database)}`,
      subject: unwritable.database,
    });
  }
  if (problem === null || (problem.code === 'unusable' && isTold)) return;
  const category = problem.code === 'foreign' ? 'security' : 'storage';
  const about = { severity: 'error', category, message: problem.message, subject: path } as const;
  if (problem.code === 'foreign') yield issue({ code: 'database_foreign', ...about, cliCommand: 'reins trust' });
  else yield issue({ code: `database_${problem.code}`, ...about, cliCommand: problem.mend });
}

function* directoryIssues(found: Inspection): Generator<SetupIssue> {
  const { dataDir, home } = found.unwritable;
  const about = { severity: 'error', category: 'storage' } as const;
  if (dataDir !== null) {
    const [message, cliCommand] = [`The directory ${dataDir} cannot be written.`, `chmod u+rwx ${quote(dataDir)}`];
    yield issue({ code: 'data_dir_unwritable', ...about, message, cliCommand, subject: dataDir });
  }
  if (home !== null) {
    const { path, message, mend } = home;
    yield issue({ code: 'home_unwritable', ...about, message, cliCommand: mend, subject: path });
  }
  for (const { path, message, mend } of found.openPermissions) {
    yield issue({
      code: 'permissions_open',
      severity: 'warning',
      category: 'security',
      message,
      cliCommand: mend,
      subject: path,
    });
  }
  const [left] = found.leftOver;
  if (left !== undefined) {
    const many = found.leftOver.length > 1 ? ` and ${found.leftOver.length - 1} more` : '';
    yield issue({
      code: 'files_left',
      severity: 'info',
      category: 'storage',
      message: `Changes of files that were cut off have left what they were writing: ${left}${many}.`,
      cliCommand: `rm -- ${quoteAll(found.leftOver)}`,
      subject: left,
    });
  }
  if (found.defaultPassword !== 'no') {
    const open = found.defaultPassword === 'open';
    yield issue({
      code: 'default_password',
      severity: open ? 'error' : 'warning',
      category: 'security',
      message: open
        ? 'No password is set, and beam-host lets other machines reach the server.'
        : 'No password is set: admin / admin logs in to the server from this machine.',
      fixPath: '/settings/password',
      cliCommand: 'reins beam set-password',
    });
  }
  if (found.beamPortTaken !== null) {
    yield issue({
      code: 'port_in_use',
      severity: 'info',
      category: 'tools',
      message: `Another program listens on the port ${found.beamPortTaken}, on which \`reins beam\` would.`,
      cliCommand: 'reins beam --port 0',
      subject: String(found.beamPortTaken),
    });
  }
  if (found.webProxy !== null) {
    yield issue({
      code: 'web_proxy_set',
      severity: 'info',
      category: 'security',
      message: `The web tools go through the proxy ${found.webProxy}, which finds the addresses of names itself: of private ones only those in URLs are refused.`,
      cliCommand: 'reins config unset web-proxy',
      subject: found.webProxy,
    });
  }
  for (const { path, reason, mount } of found.refused) {
    const where = mount === null ? '' : ` It lies on the mount ${mount}, whose files everybody may write.`;
    yield issue({
      code: 'permissions_open',
      severity: 'warning',
      category: 'security',
      message: `${path} is not used: it ${reason}.${where}`,
      cliCommand: refusedMend(path, reason, mount),
      subject: path,
    });
  }
}

/** A mode can be changed; a link or another's directory is used only where somebody names it (06 §5.1). */
function refusedMend(path: string, reason: string, mount: string | null): string {
  if (mount !== null) return 'reins --data-dir <directory on another mount> doctor';
  return reason.startsWith('can be written') ? `chmod o-w ${quote(path)}` : `reins --data-dir ${quote(path)} doctor`;
}

function* policyIssues({ policy }: Inspection): Generator<SetupIssue> {
  const file = policy.path ?? policy.name;
  const about = { category: 'policy', fixPath: '/policies', subject: file } as const;
  if (policy.state === 'invalid') {
    yield issue({
      ...about,
      code: 'policy_invalid',
      severity: 'error',
      message: `The policy ${file} cannot be used, so everything asks: ${policy.defect ?? 'it is not valid'}`,
      cliCommand: `reins policy vet ${quote(file)}`,
    });
  }
  if (policy.state === 'missing') {
    yield issue({
      ...about,
      code: 'policy_missing',
      severity: 'error',
      message: `The policy "${policy.name}" is found nowhere; every run stops until it is.`,
      cliCommand: policy.given ? 'reins policy list' : 'reins config set hitl-policy-name <name>',
    });
  }
  if (policy.warnings > 0) {
    yield issue({
      ...about,
      code: 'policy_dead_rules',
      severity: 'warning',
      message: `The policy ${file} has ${policy.warnings} ${policy.warnings === 1 ? 'warning' : 'warnings'}.`,
      cliCommand: 'reins policy vet',
    });
  }
  if (policy.presetChanged !== null) {
    yield issue({
      ...about,
      code: 'policy_preset_changed',
      severity: 'info',
      message: `The policy ${file} was copied from the preset "${policy.presetChanged}", which has changed since.`,
      cliCommand: `reins policy diff builtin:${policy.presetChanged} ${quote(file)}`,
    });
  }
  for (const state of policy.binaries) {
    yield issue({
      ...about,
      code: 'trusted_binary_drift',
      severity: 'warning',
      message: `The policy ${file} trusts ${state.file}, which ${state.message}.`,
      cliCommand: mendOf(state),
      subject: state.file,
    });
  }
  if (policy.attentionChainMissing) {
    yield issue({
      ...about,
      code: 'attention_chain_missing',
      severity: 'warning',
      message: 'The policy lets agents answer, but no readable attention chain is configured.',
      cliCommand: 'reins config set attention-chain <chain>',
    });
  }
}

function mendOf({ code, file }: BinaryState): string {
  if (code === 'open_dir') return 'reins policy vet';
  return code === 'missing' || code === 'link'
    ? `reins policy trust --remove ${quote(file)}`
    : `reins policy trust ${quote(file)}`;
}

function* recordIssues(found: Inspection): Generator<SetupIssue> {
  const { pending, oldest } = found.asks;
  if (pending > 0) {
    yield issue({
      code: 'asks_pending',
      severity: 'info',
      category: 'policy',
      message: `${pending} ${pending === 1 ? 'ask waits' : 'asks wait'} for an answer${oldest === null ? '' : `, the oldest from ${oldest}`}.`,
      fixPath: '/approvals',
      cliCommand: 'reins approvals list',
    });
  }
  const { interrupted, suspended, unknownOutcome, stuck } = found.runs;
  const resting = interrupted + suspended;
  if (resting > 0) {
    yield issue({
      code: 'runs_interrupted',
      severity: 'warning',
      category: 'storage',
      message: `${resting} ${resting === 1 ? 'run rests' : 'runs rest'} and can be continued.`,
      fixPath: '/approvals',
      cliCommand: `reins state list --status ${interrupted > 0 ? 'interrupted' : 'suspended'}`,
    });
  }
  for (const { id, attempts, last_error } of stuck) {
    yield issue({
      code: 'runs_interrupted',
      severity: 'warning',
      category: 'storage',
      message: `The run ${id} could not go on (attempt ${attempts} of ${mostAttempts}): ${last_error}`,
      fixPath: `/runs/${id}`,
      cliCommand: `reins state show ${id}`,
      subject: id,
    });
  }
  for (const run of unknownOutcome) {
    yield issue({
      code: 'outcome_unknown',
      severity: 'warning',
      category: 'policy',
      message: `The run ${run} has a tool call of which nobody knows whether it ran.`,
      fixPath: `/runs/${run}`,
      cliCommand: `reins state show ${run}`,
      subject: run,
    });
  }
}
