import { readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { readTestDocument, type PolicyTestCase } from '../policy/test-document.ts';
import { RuntimeError } from '../schema/errors.ts';
import type { Evaluation, LoadedPolicy, PolicyFinding, PolicyHost } from '../schema/policy.ts';
import type { PolicyTestFile, PolicyTestReport } from '../schema/policy-views.ts';
import { isDocumentPath, readDocument } from '../workspace/files.ts';
import type { PolicyWanted } from '../workspace/policies.ts';
import { createJudge, type Judge } from './judge.ts';
import { directoryOf, hostsFor, openValid, rootOf, type TrialDeps } from './trial.ts';
import { exampleMachine, virtualHost } from './virtual-host.ts';

export type TestDeps = TrialDeps & {
  /** Directories of the overlay: the project's data directory and the user directory. */
  readonly overlay: readonly string[];
  readonly uid: number | null;
};

const suffix = '.policy-test.json';
const maxDepth = 4;

/** `policy test` (02 §14.3): cases of files, judged; nothing is executed. */
export function createPolicyTests(deps: TestDeps) {
  const { root, cwd } = deps.workspace;

  return {
    /**
     * Cases that stand in no file, as a list of JSON, under a policy that is opened by this name.
     * @throws RuntimeError invalid_case with what is wrong with them, and as opening the policy does
     */
    async testCases(cases: readonly unknown[], name: string | null): Promise<PolicyTestFile['cases']> {
      const policy = await openValid(deps, { name, trust: [] });
      const { document, findings } = readTestDocument(JSON.stringify({ cases }));
      if (document === null) {
        const [first] = findings;
        const place = first?.path.replace(/^\$\.?/, '') || 'cases';
        // A finding says what is wrong, and only its path of what.
        throw new RuntimeError('invalid_case', `${place}: ${first?.message ?? 'cannot be read'}`, {
          data: { param: place, findings },
        });
      }
      const judged = await judgeAll(await createJudge(), document.cases, policy);
      return judged.map(({ one, record }) => resultOf(one, record));
    },

    /** @throws RuntimeError not_found for a path of the input that is no file that can be read */
    async testPolicies(input: {
      readonly paths: readonly string[];
      readonly policy: string | null;
      readonly trust: readonly string[];
    }): Promise<PolicyTestReport> {
      const found = [...new Set([...deps.overlay, root].flatMap((directory) => filesBelow(directory, maxDepth)))];
      const paths = input.paths.length === 0 ? found : input.paths.map((path) => resolve(cwd, path));
      const trial = await createJudge();
      const files: PolicyTestFile[] = [];
      const coverage = new Map<string, { policy: LoadedPolicy; matched: Set<number> }>();
      for (const path of paths) {
        const { file, policy, matched } = await runFile(trial, path, input, input.paths.length > 0);
        files.push(file);
        if (policy === null) continue;
        const key = policy.identity.path ?? policy.identity.name;
        const known = coverage.get(key) ?? { policy, matched: new Set<number>() };
        for (const rule of matched) known.matched.add(rule);
        coverage.set(key, known);
      }
      const cases = files.flatMap((file) => file.cases);
      return {
        files,
        passed: cases.filter(({ ok }) => ok).length,
        failed: cases.filter(({ ok }) => !ok).length,
        coverage: [...coverage].map(([policy, { policy: loaded, matched }]) => ({
          policy,
          rules: loaded.policy.rules.length,
          uncovered: loaded.policy.rules.flatMap((_, index) => (matched.has(index) ? [] : [index])),
        })),
      };
    },
  };

  type Ran = {
    readonly file: PolicyTestFile;
    readonly policy: LoadedPolicy | null;
    readonly matched: readonly number[];
  };

  async function runFile(
    trial: Judge,
    path: string,
    wanted: { policy: string | null; trust: readonly string[] },
    named: boolean,
  ): Promise<Ran> {
    const broken = (findings: readonly PolicyFinding[]): Ran => ({
      file: { path, findings, cases: [] },
      policy: null,
      matched: [],
    });
    const read = readDocument(path, 'file', deps.uid);
    if (!read.ok) {
      if (named && read.fault === 'missing') {
        throw new RuntimeError('not_found', `there is no test file ${path}`, { hints: ['reins policy test'] });
      }
      return broken([finding('$', read.fault, read.message)]);
    }
    const { document, findings } = readTestDocument(new TextDecoder().decode(read.bytes));
    if (document === null) return broken(findings);
    let policy: LoadedPolicy;
    try {
      policy = await openValid(deps, {
        name: policyOf(document.policy ?? wanted.policy, document.policy, path),
        trust: wanted.trust,
      });
    } catch (error) {
      if (!(error instanceof RuntimeError)) throw error;
      return broken([finding('$.policy', error.code, error.message)]);
    }
    const judged = await judgeAll(trial, document.cases, policy);
    return {
      file: { path, findings: [], cases: judged.map(({ one, record }) => resultOf(one, record)) },
      policy,
      matched: judged.flatMap(({ record }) => (record.matched_rule === null ? [] : [record.matched_rule])),
    };
  }

  async function judgeAll(trial: Judge, cases: readonly PolicyTestCase[], policy: LoadedPolicy) {
    const judged: { readonly one: PolicyTestCase; readonly record: Evaluation }[] = [];
    for (const one of cases) judged.push({ one, record: await judgeCase(trial, one, policy) });
    return judged;
  }

  async function judgeCase(trial: Judge, one: PolicyTestCase, policy: LoadedPolicy): Promise<Evaluation> {
    const place = rootOf(deps, null);
    if (one.host === null) {
      const base = one.cwd === null ? place.root : resolve(place.root, one.cwd);
      const machine = hostsFor(deps, place, policy)(directoryOf(one.call, base));
      await trial.prime(policy, one.call, machine);
      return trial.judge(policy, one.call, machine);
    }
    const host = hostOf(one, hostsFor(deps, place, policy)(place.root));
    return trial.judge(policy, one.call, host);
  }
}

/** A path in a test file begins at that file, wherever the command is given. */
function policyOf(policy: PolicyWanted['name'], written: string | null, path: string): string | null {
  return written !== null && isDocumentPath(written) ? resolve(dirname(path), written) : policy;
}

/** The virtual host of a case: what it does not say is that of this machine, except that there are no links. */
function hostOf({ call, cwd, host }: PolicyTestCase, machine: PolicyHost): PolicyHost {
  const workspace = host?.workspace ?? machine.workspace;
  const base = resolve(host?.cwd ?? workspace, cwd ?? '.');
  const named = call.tools === 'local_shell' ? call.args['cwd'] : undefined;
  const made = virtualHost({
    platform: host?.platform ?? machine.platform,
    shell: host?.shell ?? machine.shell,
    workspace,
    cwd: typeof named === 'string' ? resolve(base, named) : base,
    home: host?.home ?? machine.home,
    case_insensitive_paths: host?.case_insensitive_paths ?? machine.caseInsensitivePaths,
    programs_dir: host?.programs_dir ?? exampleMachine.programs_dir,
    programs: host?.programs ?? [],
  });
  return host?.programs === undefined ? { ...made, resolveProgram: machine.resolveProgram } : made;
}

function resultOf({ name, expect }: PolicyTestCase, record: Evaluation): PolicyTestFile['cases'][number] {
  const rule = record.reason === 'default_action' ? ('default' as const) : record.matched_rule;
  const ok =
    record.action === expect.action &&
    (expect.rule === null || expect.rule === rule) &&
    (expect.detail_contains === null || record.detail?.includes(expect.detail_contains) === true);
  const got = { action: record.action, rule, detail: record.detail };
  return { name, ok, expected: expect, got };
}

const finding = (path: string, code: string, message: string): PolicyFinding => ({
  severity: 'load',
  path,
  code,
  message,
});

/** Test files in a directory and at most `depth` levels below it, sorted; what cannot be read is passed over. */
function filesBelow(directory: string, depth: number): readonly string[] {
  try {
    return readdirSync(directory, { withFileTypes: true })
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .flatMap((entry) => {
        const path = join(directory, entry.name);
        if (entry.isFile()) return entry.name.endsWith(suffix) ? [path] : [];
        const skipped = entry.name === 'node_modules' || entry.name === '.git';
        return entry.isDirectory() && !skipped && depth > 0 ? filesBelow(path, depth - 1) : [];
      });
  } catch {
    return [];
  }
}
