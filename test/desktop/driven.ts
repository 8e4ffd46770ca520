import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ApprovalView, DesktopApplication, RunView, TaskStar } from '#proto';
import { TestSystem, until } from '../e2e/system.js';
import { DeskModel } from './model.js';
import { kill } from './own-processes.js';
import { DesktopRig } from './rig.js';

export const DESK = 'desk-1';

/** A whole system with a scripted model, and a desktop whose device client is one of its devices. */
export class DrivenDesktop {
  readonly rig: DesktopRig;
  readonly model: DeskModel;
  readonly system: TestSystem;
  readonly #applications: Applications;
  readonly #secrets: Readonly<Record<string, string>> | undefined;
  #token = '';
  #client: ChildProcess | undefined;

  private constructor(
    { rig, model, system }: Pick<DrivenDesktop, 'rig' | 'model' | 'system'>,
    applications: Applications,
    secrets: Readonly<Record<string, string>> | undefined,
  ) {
    this.rig = rig;
    this.model = model;
    this.system = system;
    this.#applications = applications;
    this.#secrets = secrets;
  }

  /** `devices`: Linux devices beside the desktop; `vncPort`: its screen can be looked at in the console; `secrets`: of the desktop's device; `policy`: of the service, beside its programs. */
  static async start(
    applications: (rig: DesktopRig) => Applications,
    devices = 0,
    {
      vncPort,
      secrets,
      policy: more = '',
    }: {
      readonly vncPort?: number;
      readonly secrets?: Readonly<Record<string, string>>;
      readonly policy?: string;
    } = {},
  ): Promise<DrivenDesktop> {
    const begun: { end(): Promise<void> }[] = [];
    try {
      const rig = await DesktopRig.start(vncPort);
      begun.push(rig);
      const model = await DeskModel.start();
      begun.push({ end: () => model.stop() });
      const programs = applications(rig);
      const prepare = async (home: string): Promise<NodeJS.ProcessEnv> => {
        const policy = join(home, 'policy.yaml');
        await writeFile(policy, `version: 1\napplications: ${JSON.stringify(Object.keys(programs))}\n${more}`);
        if (vncPort === undefined) return { ORRERY_POLICY_FILE: policy };
        const screens = join(home, 'screens.json');
        await writeFile(screens, JSON.stringify({ [DESK]: { host: '127.0.0.1', port: vncPort } }));
        return { ORRERY_POLICY_FILE: policy, ORRERY_SCREENS_FILE: screens };
      };
      const system = await TestSystem.startWith({ env: model.env, prepare }, '--devices', String(devices));
      begun.push({ end: () => system.stop() });
      const desktop = new DrivenDesktop({ rig, model, system }, programs, secrets);
      await desktop.#join();
      return desktop;
    } catch (error) {
      // Whoever asked for it has nothing that he could stop.
      for (const part of begun.toReversed()) await part.end();
      throw error;
    }
  }

  /** One with a text editor. */
  static editor(): Promise<DrivenDesktop> {
    return DrivenDesktop.start((rig) => ({ mousepad: { command: '/usr/bin/mousepad', args: [], files: [rig.home] } }));
  }

  /** Editors of these files, as they were, and no others. */
  async opens(...names: readonly string[]): Promise<void> {
    await this.ends('mousepad');
    for (const name of names)
      this.rig.start('mousepad', ['--disable-server', await this.rig.write(name, 'as it was\n')]);
  }

  /** Ends a program as a crash does it; settles when it is gone. */
  async ends(program: string): Promise<void> {
    for (const pid of await this.rig.processes(program)) kill(pid);
    await until(`no ${program}`, async () => ((await this.rig.processes(program)).length === 0 ? true : undefined));
  }

  written(name: string, text: string): Promise<true> {
    return until(`the file ${name}`, async () => ((await this.rig.text(name)) === text ? true : undefined));
  }

  async #join(): Promise<void> {
    const words = ['devices', 'enroll', '--id', DESK, '--agent', 'DesktopAgent'] as const;
    ({ token: this.#token } = await this.system.json<{ token: string }>(...words));
    await this.client();
    await until('the hands of the desktop', async () => {
      const { devices } = await this.system.json<{ devices: { id: string; tools: unknown[]; status: string }[] }>(
        'devices',
      );
      const desk = devices.find(({ id }) => id === DESK);
      return JSON.stringify(desk?.tools ?? []).includes('click_input') ? true : undefined;
    });
  }

  /** Its device client, also after one that has ended. */
  async client(): Promise<void> {
    const { aip } = await this.system.endpoints();
    const secrets = this.#secrets;
    const applications = this.#applications;
    this.#client = await this.rig.device(aip, { token: this.#token, applications, ...(secrets && { secrets }) });
  }

  /** As a power cut does it. */
  async killClient(): Promise<void> {
    if (this.#client === undefined) return;
    const gone = once(this.#client, 'exit');
    this.#client.kill('SIGKILL');
    await gone;
  }

  /** Sends a task in words to the desktop; the id of its run. */
  async send(story: string, more: Partial<TaskStar> = {}): Promise<string> {
    const target = { device: DESK };
    const star = { id: story, name: story, description: `Please do story-${story}.`, target, ...more };
    return this.sendAll(story, [star]);
  }

  sendAll(name: string, tasks: readonly Partial<TaskStar>[], more: object = {}): Promise<string> {
    return this.#submit(name, { constellation: { name, tasks, ...more } });
  }

  /** A goal, which the planner makes a plan of. */
  sendGoal(name: string): Promise<string> {
    return this.#submit(name, { goal: `Please do story-${name}.`, options: { editDeadlineMs: 600_000 } });
  }

  async #submit(name: string, request: object): Promise<string> {
    const file = join(this.system.home, `${name}.json`);
    await writeFile(file, JSON.stringify({ requestId: `desk-${name}`, ...request }));
    return (await this.system.json<{ runId: string }>('submit', '-f', file)).runId;
  }

  async told(story: string, more: Partial<TaskStar> = {}): Promise<RunView> {
    return this.system.untilEnd(await this.send(story, more));
  }

  /** The question about a run that a person has to answer. */
  async asked(runId: string, not?: string): Promise<ApprovalView> {
    return until(`an approval in ${runId}`, async () => {
      const { approvals } = await this.system.json<{ approvals: ApprovalView[] }>('approvals');
      return approvals.find((approval) => approval.runId === runId && approval.approvalId !== not);
    });
  }

  /** A person says yes to whatever is asked, until the run has ended. */
  approved(runId: string): Promise<RunView> {
    return this.#answered(runId, 'approve');
  }

  /** A person says no to whatever is asked, until the run has ended. */
  rejected(runId: string): Promise<RunView> {
    return this.#answered(runId, 'reject');
  }

  async #answered(runId: string, word: 'approve' | 'reject'): Promise<RunView> {
    return until(`the end of ${runId}`, async () => {
      const view = await this.system.show(runId);
      for (const { approvalId, state } of view.approvals) if (state === 'open') await this.system.cli(word, approvalId);
      return view.endedAt === null ? undefined : view;
    });
  }

  async stop(): Promise<void> {
    await this.system.stop();
    await this.model.stop();
    await this.rig.end();
  }
}

export type Applications = Readonly<Record<string, Partial<DesktopApplication>>>;
