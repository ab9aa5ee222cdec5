import type { Finding } from '../../schema/chain.ts';
import { plural } from '../../view/format.ts';
import { graphLines } from '../../view/chain-lines.ts';
import type { Handler } from '../context.ts';

const list: Handler = async (context) => {
  const chains = await (await context.client()).listChains({});
  if (context.globals.format !== 'text') {
    await context.printJson(chains);
    return 0;
  }
  if (chains.length === 0) {
    context.hint('no chains; reins init writes the two default ones');
    return 0;
  }
  await context.printTable(
    [
      { title: 'NAME' },
      { title: 'ID' },
      { title: 'SOURCE' },
      { title: 'TRUST' },
      { title: 'SHA256' },
      { title: 'PATH', flexible: true },
    ],
    chains.map((chain) => [
      chain.name,
      chain.id ?? '',
      chain.source,
      chain.trust,
      chain.sha256.slice(0, 12),
      chain.path ?? '',
    ]),
  );
  return 0;
};

const show: Handler = async (context) => {
  const { text } = await (await context.client()).showChain({ name: context.invocation.words[0] ?? '' });
  await context.print(text.trimEnd());
  return 0;
};

/** Each task with the ways that lead from it, as text (06 §26). */
const graph: Handler = async (context) => {
  const chain = await (await context.client()).graphChain({ name: context.invocation.words[0] ?? '' });
  if (context.globals.format !== 'text') await context.printJson(chain);
  else await context.print(graphLines(chain).join('\n'));
  return 0;
};

const vet: Handler = async (context) => {
  const files = await (await context.client()).vetChains({ paths: [...context.invocation.words] });
  const strict = context.invocation.flags.bool('strict') ?? false;
  const bad = files.some((file) => file.worst === 'error' || (strict && file.worst === 'warning'));
  if (context.globals.format !== 'text') {
    await context.printJson(files);
    return bad ? 3 : 0;
  }
  if (files.length === 0) context.hint('no chains; reins init writes the two default ones');
  for (const file of files) {
    for (const finding of file.findings) await context.print(findingLine(file.path, finding));
    await context.print(`${file.path}: ${file.findings.length === 0 ? 'ok' : summary(file.findings)}`);
  }
  return bad ? 3 : 0;
};

const findingLine = (file: string, finding: Finding): string =>
  `${file}:${finding.line}:${finding.column}: ${finding.severity} ${finding.code} at ${finding.path === '' ? '/' : finding.path}: ${finding.message}`;

function summary(findings: readonly Finding[]): string {
  const count = (severity: Finding['severity']) => findings.filter((each) => each.severity === severity).length;
  const parts = [
    ...(count('error') > 0 ? [plural(count('error'), 'error')] : []),
    ...(count('warning') > 0 ? [plural(count('warning'), 'warning')] : []),
    ...(count('info') > 0 ? [plural(count('info'), 'note')] : []),
  ];
  return parts.join(', ');
}

export const handlers = { list, graph, show, vet };
