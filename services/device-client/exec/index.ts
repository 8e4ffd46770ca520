/**
 * Running a shell command: its environment, its limits and sandbox, its processes to the last one, its outcome. Whether it may
 * run is decided before.
 */
export { EXEC_CLI_DEFINITION, EXEC_LIMITS, minimalEnvironment } from './exec-cli.js';
export { ExecCli } from './exec-cli.runner.js';
export type { Executed } from './exec-cli.runner.js';
export { AGENT_META, ExecLimits, ExecSettings, RunAs, Sandbox, isWithin, wrapped } from './exec-settings.js';
export { DEVICE_STOPPED, DISCONNECTED, endedWithout, outcomeOf } from './outcome.js';
export { STDIN_FILE_META, stdinPartsOf, withUnknownStdin, withoutStdin } from './stdin-file.js';
export { SYS_INFO, sysInfo } from './sys-info.adapter.js';
