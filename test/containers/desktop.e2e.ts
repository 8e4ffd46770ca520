// The desktop of docker-compose.yml and an agent that works at it: ./orrery test containers
import { mkdtemp, rm, writeFile, chmod } from 'node:fs/promises';
import { connect, createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DESK } from '../desktop/driven.js';
import { acts, assigns, DeskModel, hostEnds, presses, puts, saved, starts } from '../desktop/model.js';
import { ContainerSystem } from './containers.js';
import { docker, until, whyNoEngine } from './engine.js';

const START_MS_MAX = 15 * 60_000;
const TEXT = 'Grüße aus dem Behälter: fünf Äpfel, „schön“.\n';
/** Readable by the user of the services, who is another one than who runs the tests. */
const FOR_ALL = 0o755;

const reason = await whyNoEngine();
if (reason !== undefined) process.stderr.write(`desktop in a container: skipped, because ${reason}.\n`);

(reason === undefined ? describe : describe.skip)('docker compose --profile desktop up', () => {
  let system: ContainerSystem;
  let model: DeskModel;
  let door: Server;
  let models: string;
  let token: string;

  beforeAll(async () => {
    model = await DeskModel.start();
    const { OPENAI_BASE_URL, OPENAI_API_KEY, ORRERY_MODEL = '' } = model.env;
    const url = new URL(OPENAI_BASE_URL ?? '');
    door = await opened(await addressOfEngine(), Number(url.port));
    models = await mkdtemp(join(tmpdir(), 'orrery-models-'));
    await chmod(models, FOR_ALL);
    await writeFile(join(models, 'key'), OPENAI_API_KEY ?? '');
    await writeFile(join(models, 'policy.yaml'), 'version: 1\napplications: [mousepad]\n');
    const { address, port } = door.address() as AddressInfo;
    const settings = {
      OPENAI_BASE_URL: `http://${address}:${port}${url.pathname}`,
      OPENAI_API_KEY_FILE: '/models/key',
      ORRERY_MODEL,
      ORRERY_MODEL_DIR: models,
      ORRERY_POLICY_FILE: '/models/policy.yaml',
    };
    system = await ContainerSystem.start(`orrery-desk-${process.pid}`, { profiles: ['desktop'], settings });
    token = await system.adminToken();
  }, START_MS_MAX);

  afterAll(async () => {
    await system?.stop();
    door?.close();
    await model?.stop();
    if (models !== undefined) await rm(models, { recursive: true, force: true });
  }, START_MS_MAX);

  it('has a device with a screen, whose tools and programs everybody sees', async () => {
    const desk = await until('the hands of the desktop', async () => {
      const { stdout } = await system.cli(['devices', '--json']);
      const { devices } = JSON.parse(stdout) as { devices: { deviceId: string; status: string; tools: unknown[] }[] };
      const found = devices.find(({ deviceId }) => deviceId === DESK);
      return JSON.stringify(found?.tools ?? []).includes('click_input') ? found : undefined;
    });
    expect(desk.status).toBe('connected');
  });

  it('lets an agent write and save a text, which then lies in the container', async () => {
    model.story('letter', [
      starts('mousepad'),
      assigns('Mousepad', 'Write the text and save it.'),
      puts(TEXT),
      presses('{VK_CONTROL}s'),
      acts('set_edit_text', ['Edit', 'Name:'], { text: 'letter.txt', clear_current_text: true }),
      acts('click_input', ['Button', 'Save']),
      saved('letter.txt'),
      hostEnds('The letter is written.'),
    ]);
    const task = { id: 'letter', name: 'letter', description: 'Please do story-letter.', target: { device: DESK } };
    const body = JSON.stringify({ requestId: 'desk-letter', constellation: { name: 'letter', tasks: [task] } });
    const response = await system.http('POST', '/v1/requests', { token, body });
    expect(response.status).toBe(202);
    const { runId } = (await response.json()) as { runId: string };
    const view = await system.untilEnd(runId, token);
    expect([view.outcome, view.tasks[0]?.result?.value]).toEqual(['succeeded', 'The letter is written.']);
    expect(view.approvals).toEqual([]);
    const read = ['exec', '-T', DESK, 'cat', '/data/screen/home/letter.txt'];
    expect(await system.mustCompose(read)).toBe(TEXT);
    expect((await system.cli(['verify', runId])).code).toBe(0);
  });
});

/** Where containers reach this machine: the engine's side of its own bridge. */
async function addressOfEngine(): Promise<string> {
  const words = ['network', 'inspect', 'bridge', '--format', '{{(index .IPAM.Config 0).Gateway}}'];
  return (await docker(words)).stdout.trim();
}

/** A door to a port of the loopback interface, on which the model listens. */
async function opened(host: string, port: number): Promise<Server> {
  const server = createServer((outside) => {
    const inside = connect(port, '127.0.0.1');
    for (const end of [inside, outside]) end.on('error', () => [inside, outside].forEach((each) => each.destroy()));
    outside.pipe(inside).pipe(outside);
  });
  await new Promise<void>((ready, failed) => server.once('error', failed).listen(0, host, ready));
  return server;
}
