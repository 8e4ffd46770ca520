import type { NatsConnection } from '@nats-io/transport-node';
import type { ApprovalView, RecordedRunEvent, RunId, RunView } from '#proto';
import { requestRun } from '#libs/testing';
import { openRunLog } from '#libs/event-log';
import { type Ran, type TestSystem, until } from '../e2e/system.js';

/** A system that lives while its history is made, and the names of its runs. */
export class Recording {
  readonly system: TestSystem;
  readonly nc: NatsConnection;
  /** The runs that become histories, by name. */
  readonly runs = new Map<string, RunId>();
  /** What was sent for them, as text, before anybody added a default. */
  readonly requests: Record<string, string> = {};

  private constructor(system: TestSystem, nc: NatsConnection) {
    this.system = system;
    this.nc = nc;
  }

  static async of(system: TestSystem): Promise<Recording> {
    return new Recording(system, await system.bus());
  }

  /** Sends a request as it stands; resolves when it is recorded. */
  async send(name: string, request: object): Promise<RunId> {
    const text = JSON.stringify({ requestId: `history-${name}`, ...request });
    this.requests[name] = text;
    const runId = await requestRun(this.nc, text);
    this.runs.set(name, runId);
    return runId;
  }

  /** Sends it and waits for its end, which has to be the one that is wanted: a history says what it is meant to say. */
  async tell(name: string, request: object, wanted: string): Promise<RunId> {
    const runId = await this.send(name, request);
    await this.ends(runId, wanted);
    return runId;
  }

  async ends(runId: RunId, wanted: string): Promise<RunView> {
    const view = await this.system.untilEnd(runId);
    if ((view.outcome ?? view.status) !== wanted) {
      throw new Error(`${view.requestId} ended ${view.status} ${view.outcome}, not ${wanted}: ${JSON.stringify(view)}`);
    }
    return view;
  }

  /** Until the run is in this state. */
  untilView(runId: RunId, what: string, holds: (view: RunView) => boolean): Promise<RunView> {
    return until(`${runId}: ${what}`, async () => {
      const view = await this.system.show(runId);
      return holds(view) ? view : undefined;
    });
  }

  untilEvent(runId: RunId, what: string, is: (event: RecordedRunEvent) => boolean): Promise<RecordedRunEvent> {
    return until(`${runId}: ${what}`, async () => {
      const stored = await openRunLog(this.nc).load(runId);
      return stored.flatMap(({ commit }) => commit.events).find(is);
    });
  }

  /** Until the log of its attempts has a fact of this kind. */
  async untilStep(runId: RunId, type: string): Promise<void> {
    await until(`${runId}: ${type}`, async () => {
      const { stdout } = await this.system.cli('steps', runId, '--json');
      return stdout.includes(`"${type}"`) ? true : undefined;
    });
  }

  async untilAsked(runId: RunId, { count = 1 } = {}): Promise<ApprovalView> {
    const view = await this.untilView(runId, 'somebody is asked', ({ approvals }) => approvals.length >= count);
    const asked = view.approvals[count - 1];
    if (asked === undefined) throw new Error(`${runId} lost its question`);
    return asked;
  }

  /** Says something to the system that it must take. */
  async cli(...args: readonly string[]): Promise<Ran> {
    const ran = await this.system.cli(...args);
    if (ran.code !== 0) throw new Error(`orrery ${args.join(' ')} exited with ${ran.code}: ${ran.stdout}${ran.stderr}`);
    return ran;
  }

  /** The run that a client began by itself, by the name it gave it. */
  async adopt(name: string, runName: string): Promise<RunId> {
    const runId = await until(`the run of ${name}`, async () => {
      const { runs } = await this.system.json<{ runs: { runId: RunId; name: string }[] }>('runs');
      return runs.find((run) => run.name === runName)?.runId;
    });
    this.runs.set(name, runId);
    return runId;
  }

  async fork(name: string, runId: RunId, at: number): Promise<RunId> {
    const forked = await this.system.json<{ runId: RunId }>('fork', runId, '--at', String(at));
    this.runs.set(name, forked.runId);
    return forked.runId;
  }
}

/** An exact task on web-1. */
export const sh = (id: string, command: string, more: object = {}) => ({
  id,
  name: id,
  target: { device: 'web-1' },
  command: { tool: 'EXEC_CLI', arguments: { command, timeout: 600 } },
  ...more,
});

/** One that takes the outputs of others. */
export const piped = (id: string, command: string, from: readonly string[], more: object = {}) =>
  sh(id, command, { command: { tool: 'EXEC_CLI', arguments: { command, timeout: 600, stdin: { from } } }, ...more });

/** A line as a request may say it; without a type it has none. */
export const line = (from: string, to: string, type?: string, condition?: string) => ({
  id: `${from}-${to}`,
  from,
  to,
  ...(type === undefined ? {} : { type }),
  ...(condition === undefined ? {} : { condition }),
});

export const exact = (name: string, tasks: readonly object[], lines: readonly object[] = [], options: object = {}) => ({
  constellation: { name, tasks, lines },
  options,
});

/** Waits for a file in the jail of web-1. */
export const gate = (id: string, file: string, more: object = {}) =>
  sh(id, `until [ -e ${file} ]; do sleep 0.05; done; echo ${id}`, more);
