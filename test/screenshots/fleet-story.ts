import { FakeDevice, type ModelServerReply } from '#libs/testing';
import { query } from '#libs/messaging';
import type { CommandMessage, ToolTask } from '#proto';
import { end, exec, type Turn } from '../e2e/agent-model.js';
import { after, creates, edits, task } from '../e2e/planner-stories.js';
import { until, type TestSystem } from '../e2e/system.js';

/* A living fleet of six devices and a night of work on it: what there is to look at. */

/** Beside the two that the system starts itself: they only say what a device of their kind would say. */
const OTHERS = [
  { deviceId: 'gpu-lab-1', tags: ['lab', 'gpu'], capabilities: ['cli', 'cuda'] },
  { deviceId: 'nas-1', tags: ['storage'], capabilities: ['cli'] },
  { deviceId: 'edge-berlin', tags: ['edge', 'eu'], capabilities: ['cli'] },
  { deviceId: 'build-1', tags: ['ci'], capabilities: ['cli', 'docker'] },
];

export const GOAL =
  'Make the fleet ready for the night (plan-night): look at every machine, take a backup of the database, and write one report.';

const on = (target_device_id: string, name: string, command: string, description = name): ToolTask => ({
  ...task(name.toLowerCase().replaceAll(/[^a-z0-9]+/gu, '-'), command, { target_device_id }),
  name,
  description,
});

const TASKS = [
  on('web-1', 'Look at web-1', 'uname -sr; df -h / | tail -n 1'),
  on('db-1', 'Look at db-1', 'uname -sr; df -h / | tail -n 1'),
  on('gpu-lab-1', 'Look at gpu-lab-1', 'nvidia-smi --query-gpu=utilization.gpu --format=csv'),
  on('nas-1', 'Look at nas-1', 'df -h /srv'),
  on('edge-berlin', 'Look at edge', 'uptime'),
  on('db-1', 'Dump database', 'echo "dump of 41 tables"; echo "4.2 GiB written"'),
  on('nas-1', 'Store backup', 'cp dump.zst /srv/backup/'),
  on('nas-1', 'Check backup', 'sha256sum /srv/backup/dump.zst'),
  on('gpu-lab-1', 'Check weights', 'sha256sum /models/weights.bin'),
  on('build-1', 'Measure caches', 'du -sh /var/cache/images'),
  on('edge-berlin', 'Compare edge', 'cat release.txt'),
  on('web-1', 'Write report', 'cat report.md'),
] as const;

const FIRST_PLAN = creates(
  {
    name: 'Night shift of the fleet',
    tasks: TASKS.map((one) => ({ ...one })),
    dependencies: [
      after('look-at-db-1', 'dump-database'),
      after('look-at-nas-1', 'store-backup'),
      after('dump-database', 'store-backup'),
      after('store-backup', 'check-backup'),
      after('look-at-gpu-lab-1', 'check-weights'),
      after('look-at-web-1', 'measure-caches'),
      after('measure-caches', 'compare-edge'),
      after('look-at-edge', 'compare-edge', { type: 'conditional', condition: 'result.exit_code == 0' }),
      after('check-backup', 'write-report'),
      after('check-weights', 'write-report', { type: 'unconditional' }),
      after('compare-edge', 'write-report', { type: 'unconditional' }),
    ],
  },
  [],
  'Six machines, one database. Every machine is looked at first, side by side; the backup follows db-1 and nas-1, caches follow web-1, and the report waits for all of it.',
);

const ROOM: ModelServerReply = edits(
  {
    tool: 'add_task',
    arguments: {
      ...on('nas-1', 'Make room', 'rm -r /srv/backup/2025', 'The store has no room for the dump.'),
    },
  },
  { tool: 'add_task', arguments: on('nas-1', 'Store again', 'cp dump.zst /srv/backup/') },
  { tool: 'add_dependency', arguments: after('make-room', 'store-again') },
  { tool: 'add_dependency', arguments: after('store-again', 'check-backup', { type: 'unconditional' }) },
  { tool: 'remove_dependency', arguments: { dependency_id: 'store-backup-check-backup' } },
);

export const STORIES: Readonly<Record<string, readonly Turn[]>> = {
  'plan-night': [FIRST_PLAN, ROOM, edits()],
  tidy: [
    exec('ls -la old', {}, { thought: 'First I look at what lies there, before anything is removed.' }),
    exec('rm -r old', {}, { thought: 'There are only logs of last year in it: the directory can go.' }),
    end('FINISH', 'The old logs are gone.'),
  ],
};

/** What has failed once does not fail again. */
const fails = new Set<string>();

/** What a device of a story does with a command: some are quick, one has no room, some are still at it. */
function act(command: CommandMessage, device: FakeDevice): void {
  const [action] = command.actions;
  const said = action?.parameters?.['command'];
  const line = typeof said === 'string' ? said : '';
  const id = command.orrery?.command_id ?? '';
  device.started(command);
  if (/^(?:sha256sum .models|du)/u.test(line)) {
    device.output(
      id,
      Array.from(
        { length: 9 },
        (_, at) => `\u001b[32mok\u001b[0m   part ${at + 1} of 40, ${512 * (at + 1)} MiB read\n`,
      ).join(''),
    );
    return;
  }
  if (line.startsWith('cp ') && !fails.has(line)) {
    fails.add(line);
    const message = 'cp: error writing /srv/backup/dump.zst: No space left on device';
    const error = { code: 'EXIT_CODE', message, outcome: 'failed' } as const;
    device.finish(command, { state: 'FAILED', result: { exit_code: 1, stderr: message }, error });
    return;
  }
  device.output(id, 'fine\n');
  device.finish(command, { result: { exit_code: 0, stdout: 'fine\n' } });
}

export async function connectFleet(system: TestSystem): Promise<FakeDevice[]> {
  const { aip: url } = await system.endpoints();
  const devices: FakeDevice[] = [];
  for (const { deviceId, tags, capabilities } of OTHERS) {
    const admin = { tags, capabilities, tasksMax: 2 };
    const { token } = await query(await system.bus(), 'registry', 'enroll', { deviceId, admin });
    devices.push(await FakeDevice.connect({ url, deviceId, token, onCommand: act }));
    await until(`${deviceId} to be there`, async () => {
      const { devices: known } = await query(await system.bus(), 'registry', 'devices', {});
      return known.some((known) => known.deviceId === deviceId && known.status === 'connected') || undefined;
    });
  }
  return devices;
}
