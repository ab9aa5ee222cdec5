import type { PolicyRow, PolicyVetFile } from '../../schema/policy-views.ts';
import { quote } from '../../text/quote.ts';
import type { Handler } from '../context.ts';
import { policyMeant } from '../policy-meant.ts';

const list: Handler = async (context) => {
  const client = await context.client();
  const { policies, notes } = await client.listPolicies({ policy: context.globals.policy?.value ?? null });
  for (const note of notes) context.warn(note);
  if (context.globals.format !== 'text') {
    await context.printJson({ schema_version: 1, policies });
    return 0;
  }
  await context.printTable(
    [
      { title: '  NAME', flexible: true },
      { title: 'SOURCE' },
      { title: 'STATE' },
      { title: 'RULES', align: 'right' },
      { title: 'DEFAULT' },
      { title: 'SHA256' },
    ],
    policies.map(cells),
  );
  return 0;
};

const cells = (row: PolicyRow): readonly string[] => [
  `${row.governs ? '*' : ' '} ${row.name}`,
  row.source,
  row.state,
  row.rules === null ? '' : String(row.rules),
  row.default ?? '',
  row.sha256?.slice(0, 12) ?? '',
];

const show: Handler = async (context) => {
  const { flags } = context.invocation;
  const policy = policyMeant(context);
  const { text, agent_answers: _, ...rest } = await (await context.client()).showPolicy({ policy });
  const where = rest.path ?? `${rest.source} ${rest.name}`;
  const onlyPath = flags.bool('path') === true;
  if (rest.state === 'invalid') context.hint(`not used, it is invalid: reins policy vet ${quote(where)}`);
  if (rest.state === 'untrusted') context.hint(`not used, it is not trusted: reins trust add ${quote(where)}`);
  if (context.globals.format === 'text') {
    await context.print(onlyPath ? where : text.replace(/\n$/, ''));
    return 0;
  }
  await context.printJson({ schema_version: 1, ...rest, ...(onlyPath ? {} : { text }) });
  return 0;
};

const vet: Handler = async (context) => {
  const { words, flags } = context.invocation;
  const one = policyMeant(context);
  const given = words.length > 0 || one === null ? [...words] : [one];
  const files = await (await context.client()).vetPolicies({ policies: given });
  const strict = flags.bool('strict') === true;
  const fails = (file: PolicyVetFile): boolean => file.worst === 'error' || (strict && file.worst === 'warn');
  if (context.globals.format !== 'text') await context.printJson({ schema_version: 1, files });
  else {
    if (files.length === 0) context.hint('no policy file here; built-in policies are checked by name');
    for (const file of files) {
      const word = file.worst === 'ok' ? 'ok' : fails(file) ? 'FAIL' : 'warn';
      const lines = file.findings.map((one) => `  ${one.severity} ${one.path}: ${one.message} [${one.code}]`);
      await context.print([`${word} ${file.path}`, ...lines].join('\n'));
    }
  }
  return files.some(fails) ? 3 : 0;
};

export const handlers = { list, show, vet };
