import type { PolicyTestFile, PolicyTestReport } from '../../schema/policy-views.ts';
import type { Handler } from '../context.ts';

/** `policy test` (02 §14.3). */
const test: Handler = async (context) => {
  const { words } = context.invocation;
  const report = await (await context.client()).testPolicies({
    paths: [...words],
    policy: context.globals.policy?.value ?? null,
    trust: [...context.globals.trust],
  });
  if (context.globals.format !== 'text') await context.printJson({ schema_version: 1, ...report });
  else {
    for (const line of lines(report)) await context.print(line);
    if (report.files.length === 0) context.hint('no *.policy-test.json in the overlay or the project');
  }
  if (report.files.some(({ findings }) => findings.length > 0)) return 3;
  return report.failed > 0 ? 1 : 0;
};

const lines = (report: PolicyTestReport): readonly string[] => [
  ...report.files.flatMap(fileLines),
  `${report.passed} passed, ${report.failed} failed`,
  ...report.coverage.map(({ policy, rules, uncovered }) =>
    uncovered.length === 0
      ? `${policy}: every one of ${rules} rules matched`
      : `${policy}: no case matched ${uncovered.length} of ${rules} rules: ${ranges(uncovered)}`,
  ),
];

const fileLines = ({ path, findings, cases }: PolicyTestFile): readonly string[] => [
  findings.length > 0 ? `FAIL ${path}` : path,
  ...findings.map((one) => `  error ${one.path}: ${one.message} [${one.code}]`),
  ...cases.map(({ name, ok, expected, got }) => {
    if (ok) return `  ok ${name}`;
    const detail = expected.detail_contains === null ? '' : `, detail with "${expected.detail_contains}"`;
    return `  FAIL ${name}: expected ${verdict(expected)}${detail}, got ${verdict(got)}${got.detail === null ? '' : ` (${got.detail})`}`;
  }),
];

const verdict = ({ action, rule }: { readonly action: string; readonly rule: number | 'default' | null }): string =>
  rule === null ? action : `${action} by ${rule === 'default' ? 'default' : `rule ${rule + 1}`}`;

/** Indexes from 0 as people count them: `1-3, 7`. */
function ranges(indexes: readonly number[]): string {
  const runs: [number, number][] = [];
  for (const index of indexes) {
    const last = runs.at(-1);
    if (last !== undefined && last[1] === index - 1) last[1] = index;
    else runs.push([index, index]);
  }
  return runs.map(([from, to]) => (from === to ? `${from + 1}` : `${from + 1}-${to + 1}`)).join(', ');
}

export const handlers = { test };
