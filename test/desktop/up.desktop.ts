// The desktop of `up --desktop`, from its start to nothing that is left: ./orrery test desktop
import { readFile, stat, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { desktopMachine, desktopPlan } from '../../services/cli/desktop/index.js';
import { TestSystem, until } from '../e2e/system.js';
import { acts, appEnds, assigns, DeskModel, hostEnds, presses, starts } from './model.js';
import { OwnProcesses } from './own-processes.js';
import { coloursOf, Viewer } from './viewer.js';

const DESK = 'desk-1';
const LETTER_A = 0x61;
const COLOURS = 16;

/** Why not on this machine, in the sentence of the command itself. */
async function whyNot(): Promise<string | undefined> {
  try {
    const { isShown, applications, notes } = desktopPlan(await desktopMachine(process.env['PATH'] ?? '', '/tmp/home'));
    if (!isShown) return notes.join(' ');
    return 'mousepad' in applications ? undefined : 'there is no mousepad';
  } catch (error) {
    return String(error);
  }
}

const reason = await whyNot();
if (reason !== undefined) process.stderr.write(`desktop: up --desktop is skipped, because ${reason}\n`);

(reason === undefined ? describe : describe.skip)('up --desktop', () => {
  let system: TestSystem;
  let model: DeskModel;
  let left: OwnProcesses;

  beforeAll(async () => {
    model = await DeskModel.start();
    const prepare = async (home: string): Promise<NodeJS.ProcessEnv> => {
      await writeFile(join(home, 'policy.yaml'), 'version: 1\napplications: [mousepad]\n');
      return {};
    };
    system = await TestSystem.startWith({ env: model.env, prepare }, '--desktop', '--devices', '0');
    left = new OwnProcesses(system.home);
  });
  afterAll(async () => {
    await system?.stop();
    await model?.stop();
  });

  const file = (name: string): string => join(system.home, 'devices', DESK, 'screen/home', name);
  const text = (name: string): Promise<string> => readFile(file(name), 'utf8').catch(() => '');

  async function writes(story: string, words: string): Promise<void> {
    model.story(story, [
      starts('mousepad'),
      assigns('Mousepad', 'Write the letter and save it.'),
      acts('set_edit_text', ['Edit', ''], { text: words, clear_current_text: true }),
      presses('{VK_CONTROL}s'),
      acts('set_edit_text', ['Edit', 'Name'], { text: `${story}.txt`, clear_current_text: true }),
      acts('click_input', ['Button', 'Save']),
      appEnds('It is saved.'),
      hostEnds('It is saved.'),
    ]);
    const star = { id: story, name: story, description: `Please do story-${story}.`, target: { device: DESK } };
    const request = { requestId: story, constellation: { name: story, tasks: [star] } };
    await writeFile(join(system.home, `${story}.json`), JSON.stringify(request));
    const { runId } = await system.json<{ runId: string }>('submit', '-f', join(system.home, `${story}.json`));
    expect((await system.untilEnd(runId)).outcome).toBe('succeeded');
    await until(`the text of ${story}`, async () => ((await text(`${story}.txt`)) === words ? true : undefined));
  }

  it('is a device whose agent writes a letter, seen by who looks on', async () => {
    await writes('letter', 'Grüße\n');
    const { console: url } = await system.endpoints();
    const viewer = await Viewer.open(url, DESK, system.token);
    await until('a picture with the letter', async () =>
      coloursOf(await viewer.picture(), COLOURS) === COLOURS ? true : undefined,
    );
    viewer.close();
  });

  it('is in the hands of who takes it over, until it is handed back', async () => {
    const { console: url } = await system.endpoints();
    const viewer = await Viewer.open(url, DESK, system.token);
    const before = (await viewer.picture()).bgrx;
    expect((await system.cli('devices', 'take-over', DESK, '--reason', 'a look')).code).toBe(0);
    await until('a letter of the person', async () => {
      viewer.key(LETTER_A);
      return (await viewer.picture()).bgrx.equals(before) ? undefined : true;
    });
    expect((await system.cli('devices', 'hand-back', DESK)).code).toBe(0);
    viewer.close();
  });

  it('is of a user of its own, and lets in nobody who has no password', async () => {
    const facts = await Promise.all((await left.list()).map(async (pid) => [pid, await programOf(pid)] as const));
    const [display] = facts.find(([, program]) => program === 'Xtigervnc') ?? [];
    const owner = (await stat(`/proc/${display}`)).uid;
    expect(owner).not.toBe(0);
    expect(owner).toBe((await stat(join(system.home, 'devices', DESK, 'screen'))).uid);
    const screens = JSON.parse(await readFile(join(system.home, 'keys/screens.json'), 'utf8')) as Record<
      string,
      { port: number; passwordFile: string }
    >;
    const { port = 0, passwordFile = '' } = screens[DESK] ?? {};
    expect((await stat(passwordFile)).mode & 0o077).toBe(0);
    // The kinds of being let in, after the version: one, and that is by a password.
    expect(await kindsOf(port)).toEqual([1, 2]);
  });

  it('is back by itself when its display was killed, and works on', async () => {
    const before = await system.pidOf(`${DESK}-screen`);
    for (const pid of await left.list('Xtigervnc')) process.kill(pid, 'SIGKILL');
    await until('another screen', async () => {
      const pid = (await system.pids())[`${DESK}-screen`];
      return pid === undefined || pid === before ? undefined : true;
    });
    await writes('again', 'Noch einmal\n');
    const log = await readFile(join(system.home, 'logs/up.log'), 'utf8');
    expect(log).toContain(`${DESK}-screen ended; starting it again`);
  });

  it('leaves nothing when it goes down', async () => {
    const { stdout } = await system.cli('status');
    expect(stdout).toMatch(new RegExp(`^${DESK}-screen\\trunning`, 'mu'));
    expect((await system.cli('down')).code).toBe(0);
    expect(await left.list()).toEqual([]);
  });
});

const programOf = async (pid: number): Promise<string> =>
  (await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '')).trim();

/** What a server of VNC says after its version. */
async function kindsOf(port: number): Promise<number[]> {
  const socket = connect({ host: '127.0.0.1', port });
  socket.write('RFB 003.008\n');
  let heard = Buffer.alloc(0);
  for await (const piece of socket) {
    heard = Buffer.concat([heard, piece as Buffer]);
    if (heard.length >= 14) break;
  }
  socket.destroy();
  return [...heard.subarray(12, 14)];
}
