import type { AgentProfile } from '#proto';
import { DEVICE_ID, SESSION_ID, STARTED_AT } from './run.js';

/** The profile of the device of all tests, as the registry would have written it. */
export function profileOf(change: Partial<AgentProfile> = {}): AgentProfile {
  return {
    deviceId: DEVICE_ID,
    status: 'connected',
    agent: 'LinuxAgent',
    os: 'linux',
    arch: 'x64',
    hostname: 'web-1',
    capabilities: [],
    tags: [],
    tools: [
      { name: 'EXEC_CLI', description: 'runs a command line', readOnly: false },
      { name: 'SYS_INFO', description: 'tells about the machine', readOnly: true },
    ],
    resources: { cpuCount: 1, memoryMb: 1 },
    tasksMax: 8,
    held: null,
    session: { sessionId: SESSION_ID, gateway: 'g1', journalId: 'journal-1', connectedAt: STARTED_AT },
    revision: 1,
    enrolledAt: STARTED_AT,
    changedAt: STARTED_AT,
    ...change,
  };
}
