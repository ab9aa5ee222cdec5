import { client } from '../data/client.ts';
import { useData } from '../data/use-data.ts';
import { Loaded } from '../parts/states.tsx';

/** Which program this is and what it works on. */
export function About() {
  const data = useData('version', () => client.getVersion({}));
  return (
    <Loaded data={data}>
      {(about) => (
        <div className="panel stack">
          <dl className="facts">
            {[
              ['Version', about.version],
              ['Workspace', about.workspace],
              ['Data directory', about.data_dir ?? 'none'],
              ['Database', about.database],
              ['Its id', `${about.instance_id}, layout ${about.schema_version}`],
              ['Tenant', about.tenant_id],
              ['API', String(about.api_version)],
              ['Policy format', String(about.policy_schema_version)],
            ].map(([label, value]) => (
              <div className="facts-row" key={label}>
                <dt>{label}</dt>
                <dd className="mono wrap">{value}</dd>
              </div>
            ))}
          </dl>
          <p className="small muted">
            Reins is licensed under the Apache License 2.0. The packages it is built from keep their own licences, which
            are in the package beside their code.
          </p>
        </div>
      )}
    </Loaded>
  );
}
