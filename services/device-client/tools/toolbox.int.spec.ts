import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeHome, startDevice, type DeviceHome, type DeviceProcess } from '../testing/device-process.js';
import { startScriptedServer, type ScriptedServer } from '../testing/scripted-server.js';
import { until } from '../testing/until.js';

const ODD = fileURLToPath(new URL('../../../libs/mcp/testing/odd-server.ts', import.meta.url));
const CLASHING = fileURLToPath(new URL('../testing/clashing-server.ts', import.meta.url));

let home: DeviceHome;
let server: ScriptedServer;
let device: DeviceProcess;

beforeEach(async () => {
  home = await makeHome();
  server = await startScriptedServer();
  const node = JSON.stringify(process.execPath);
  const config = join(home.dir, 'tools.yaml');
  await writeFile(
    config,
    `mcpServers:
  clashing: { command: ${node}, args: [${JSON.stringify(CLASHING)}] }
  odd: { command: ${node}, args: [${JSON.stringify(ODD)}, normal], timeoutMs: 3000 }
  dead: { command: /no/such/program }
`,
  );
  device = startDevice(home, server.url, ['--config', config]);
});
afterEach(async () => {
  await device.kill('SIGKILL');
  await server.stop();
  await home.remove();
});

describe('a device with more tool servers', () => {
  it('offers the tools of all, and its own ones win their names', async () => {
    const { connection, register } = await server.registeredWith('only_mine', 'hangs');
    const names = register.metadata?.orrery?.telemetry.tools.map(({ name }) => name) ?? [];
    expect(names.slice(0, 5)).toEqual(['EXEC_CLI', 'SYS_INFO', 'FILE_GET', 'FILE_PUT', 'only_mine']);
    expect(names).toContain('hangs');
    expect(new Set(names).size).toBe(names.length);
    connection.command('c1', 'EXEC_CLI', { command: 'echo own' });
    expect(await connection.outcome('c1')).toMatchObject({ state: 'COMPLETED', result: { stdout: 'own\n' } });
    connection.command('c2', 'only_mine', {});
    expect(await connection.outcome('c2')).toMatchObject({ state: 'COMPLETED', result: 'from clashing' });
    const refused = device
      .output()
      .split('\n')
      .filter((line) => line.includes('"tool refused"'));
    expect(refused.map((line) => JSON.parse(line))).toMatchObject([
      { server: 'clashing', tool: 'EXEC_CLI', reason: 'the name belongs to the server "device"' },
      { server: 'clashing', tool: 'bad name!' },
      { server: 'clashing', tool: 'list_tools', reason: 'the name is reserved' },
    ]);
  });

  it('survives tools that hang, fail, flood and die', async () => {
    const { connection } = await server.registeredWith('hangs');
    for (const tool of ['hangs', 'fails']) connection.command(tool, tool, {});
    expect(await connection.outcome('hangs')).toMatchObject({ state: 'TIMED_OUT', error: { code: 'TOOL_TIMEOUT' } });
    expect(await connection.outcome('fails')).toMatchObject({
      state: 'FAILED',
      result: 'it failed',
      error: { code: 'TOOL_ERROR' },
    });
    connection.command('exits', 'exits', {});
    expect(await connection.outcome('exits')).toMatchObject({
      state: 'OUTCOME_UNKNOWN',
      error: { code: 'TOOL_SERVER_LOST' },
    });
    connection.command('floods', 'floods', {});
    await connection.outcome('floods');
    connection.command('c1', 'EXEC_CLI', { command: 'echo alive' });
    expect(await connection.outcome('c1')).toMatchObject({ state: 'COMPLETED' });
  });

  it('registers again when its tools have changed', async () => {
    const { connection } = await server.registeredWith('grows');
    connection.command('c1', 'grows', {});
    const { connection: second } = await server.registeredWith('grown-10');
    expect(await second.outcome('c1')).toMatchObject({ state: 'COMPLETED' });
  });

  it('has its own tools back after their process was killed', async () => {
    const { connection } = await server.registered();
    connection.command('c1', 'EXEC_CLI', { command: 'kill -KILL $PPID; exec sleep 2' });
    expect(await connection.outcome('c1')).toMatchObject({
      state: 'OUTCOME_UNKNOWN',
      error: { code: 'TOOL_SERVER_LOST' },
    });
    const result = await until(async () => {
      const id = `again-${Math.trunc(performance.now())}`;
      connection.command(id, 'EXEC_CLI', { command: 'echo back' });
      const outcome = await connection.outcome(id);
      return outcome.error?.code === 'TOOL_UNAVAILABLE' ? undefined : outcome;
    });
    expect(result).toMatchObject({ state: 'COMPLETED', result: { stdout: 'back\n' } });
  });
});
