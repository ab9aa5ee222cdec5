import type { McpServerShown } from '../../src/client/routes/tool-sources.ts';
import { SelectField, TextField } from '../parts/field.tsx';

const ways = [
  ['none', 'nothing'],
  ['bearer', 'a token'],
  ['oauth', 'a sign-in (OAuth)'],
] as const;

/** What a service asks for, as it stands in the form. The token itself is kept nowhere but in what it was typed into. */
export type AuthFields = {
  readonly auth: (typeof ways)[number][0];
  readonly variable: string;
  readonly stored: boolean;
  readonly clientId: string;
  readonly secretVariable: string;
  readonly scopes: string;
};

/** @param server null for one that is not registered yet */
export const authOf = (server: McpServerShown | null): AuthFields => ({
  auth: server?.auth_type ?? 'none',
  variable: server?.token_source.startsWith('env:') === true ? server.token_source.slice(4) : '',
  stored: server?.token_source === 'stored',
  clientId: server?.oauth_client_id ?? '',
  secretVariable: server?.oauth_client_secret_env ?? '',
  scopes: server?.oauth_scopes ?? '',
});

/** The members of a request that say it; none where nothing differs from what is registered. */
export function authSaid(fields: AuthFields, token: string, server: McpServerShown | null) {
  const before = authOf(server);
  const { auth, variable, stored, clientId, secretVariable, scopes } = fields;
  const isSame =
    auth === before.auth &&
    variable === before.variable &&
    stored === before.stored &&
    clientId === before.clientId &&
    secretVariable === before.secretVariable &&
    scopes === before.scopes;
  if (isSame && token === '') return {};
  if (auth === 'none') return { auth_type: auth };
  if (auth === 'bearer') return { auth_type: auth, ...(stored ? { auth_token: token } : { auth_env: variable }) };
  // An empty text takes away what was said before.
  return { auth_type: auth, oauth_client_id: clientId, oauth_client_secret_env: secretVariable, oauth_scopes: scopes };
}

/** How a service knows who asks: the `--auth` and `--oauth` flags of `reins mcp add`. */
export function AuthPart({
  fields,
  change,
  token,
  onToken,
  isSet,
}: {
  readonly fields: AuthFields;
  readonly change: (part: Partial<AuthFields>) => void;
  readonly token: string;
  readonly onToken: (token: string) => void;
  /** A token of it is stored already. */
  readonly isSet: boolean;
}) {
  const { auth, variable, stored, clientId, secretVariable, scopes } = fields;
  return (
    <>
      <SelectField
        label="It asks for"
        value={auth}
        options={ways}
        // The options are these and no others.
        onChange={(event) => change({ auth: event.target.value as AuthFields['auth'] })}
      />
      {auth !== 'bearer' ? null : stored ? (
        <TextField
          label="Token"
          type="password"
          autoComplete="off"
          required={!isSet}
          value={token}
          onChange={(event) => onToken(event.target.value)}
          hint={
            isSet
              ? 'Set. Left empty it stays as it is.'
              : 'It is written into the database of this workspace and never shown again.'
          }
        />
      ) : (
        <TextField
          label="Variable that holds its token"
          required
          value={variable}
          onChange={(event) => change({ variable: event.target.value })}
          hint="Its name, of the environment that this server was started in. The token itself is not stored."
        />
      )}
      {auth !== 'bearer' ? null : (
        <label className="row small">
          <input type="checkbox" checked={stored} onChange={(event) => change({ stored: event.target.checked })} />
          Store the token in the database (not recommended)
        </label>
      )}
      {auth !== 'oauth' ? null : (
        <>
          <TextField
            label="Client id"
            value={clientId}
            onChange={(event) => change({ clientId: event.target.value })}
            hint="Of a client that was registered there; empty where the service registers it itself."
          />
          <TextField
            label="Variable that holds the client’s secret"
            value={secretVariable}
            onChange={(event) => change({ secretVariable: event.target.value })}
          />
          <TextField
            label="Scopes"
            value={scopes}
            onChange={(event) => change({ scopes: event.target.value })}
            hint="Signing in is done in the terminal afterwards, with reins mcp auth."
          />
        </>
      )}
    </>
  );
}
