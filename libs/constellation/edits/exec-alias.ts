import type { ToolInfo } from '#proto';

/** What runs a command line at this device; others have it under another name. */
export const EXEC_CLI = 'EXEC_CLI';
/** UFO's Linux devices run a command line with this one. */
export const EXEC_ALIAS = 'execute_command';

/** Whether EXEC_CLI means another tool at this device: what the gateway sends for it has that name. */
export function isExecAliased(tools: readonly ToolInfo[]): boolean {
  if (tools.some(({ name }) => name === EXEC_CLI)) return false;
  const theirs = tools.find(({ name }) => name === EXEC_ALIAS);
  const properties = theirs?.inputSchema?.['properties'];
  return typeof properties === 'object' && properties !== null && 'command' in properties;
}
