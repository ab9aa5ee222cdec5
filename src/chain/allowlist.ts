/** Whether a task's allowlist exposes a tool (04 §11). Absent, null and empty expose nothing. */
export function isAllowed(_list: readonly string[] | null | undefined, _tools: string, _tool: string): boolean {
  return false;
}
/** Whether every list permits the tool; here null means no restriction (run-level lists, `CallRequest.allow`). */
export function isAllowedByAll(_lists: readonly (readonly string[] | null)[], _tools: string, _tool: string): boolean {
  return false;
}
/** Whether `hide_tools` names the tool: `tool`, `provider.tool` or its wire name. */
export function isHidden(_hide: readonly string[] | undefined, _tools: string, _tool: string, _wire?: string): boolean {
  return false;
}
