/** The backend that a failure of a model names: the engine puts it at the end, whatever the service has said. */
const backendIn = (message: string): string | null =>
  (/, backend ([^\s)]+)\)\s*$/.exec(message) ?? /backend "([^"]+)"/.exec(message))?.[1] ?? null;

/** The variable that held a key which was refused, as the failure says at its end: what the service has said stands before. */
const variableIn = (message: string): string | null =>
  /; its key is that of (\w+)(?: \([^()]*\))?\s*$/.exec(message)?.[1] ?? null;

/** What mends a key that a backend refused: the variable that it is read from, or the command that names one. */
export function keyMend(message: string, backend: string | null = backendIn(message)): string | null {
  const variable = variableIn(message);
  if (variable !== null) return `export ${variable}=…`;
  return backend === null ? null : `reins backend update ${backend} --api-key-env <NAME>`;
}
