import { jest } from '@jest/globals';
import { AIP_LIMITS, type CommandId } from '#proto';
import { Dice } from '../simulation/random.js';
import { Agent, type Attempt } from './agent.js';
import { DeviceLife, emptyDisk, type DeviceUnderTest, type DeviceWays, type Disk } from './device.js';
import { ForeignDevice } from './foreign-device.js';
import { GatewaySession, type Presence } from './gateway.js';
import { Wire } from './wire.js';

/** The real one: timers of the test are not. */
const turn = setImmediate;
const TICK_MS = 500;
const TASKS_MAX = 12;
const SETTLE_MS_MAX = 30 * 60_000;

/** One seed's story: a device, its gateways and a device-agent, with everything that can go wrong between them. */
export class World {
  readonly disk: Disk;
  readonly agent: Agent;
  readonly log: string[] = [];
  readonly #dice: Dice;
  readonly #presence: Presence = { holder: undefined, sessions: 0 };
  readonly #ways: DeviceWays;
  #sessions: GatewaySession[] = [];
  #device: DeviceUnderTest;
  #calm = false;

  constructor(seed: number, journalId: string | null) {
    this.disk = emptyDisk(journalId);
    this.#dice = new Dice(seed, 'commands');
    this.#ways = {
      revision: this.#dice.chance(0.25) ? 1 : 2,
      disconnectGraceMs: this.#dice.chance(0.25) ? 5_000 : null,
      isDeaf: () => this.#dice.chance(0.3),
    };
    this.#device = this.#newDevice();
    this.agent = new Agent(journalId, {
      losesAnswer: () => !this.#calm && this.#dice.chance(0.1),
      failsDelivery: () => !this.#calm && this.#dice.chance(0.3),
    });
  }

  async play(steps: number): Promise<void> {
    for (let count = 0; count < steps; count++) {
      const act = this.#dice.pick(ACTS);
      this.log.push(act);
      this.#act(act);
      await this.#settle();
    }
  }

  /** Nothing goes wrong any more. How long it takes until nobody waits for anything, in ms; null: for ever. */
  async calm(): Promise<number | null> {
    this.#calm = true;
    for (let ms = 0; ms <= SETTLE_MS_MAX; ms += TICK_MS) {
      this.#connect();
      this.#grant();
      for (const session of this.#sessions) session.look();
      for (const attempt of this.agent.attempts) this.agent.ask(attempt, Date.now());
      this.#device.finishOne(0);
      this.#advance(TICK_MS);
      await this.#everythingArrives();
      if (this.#isQuiet) return ms;
    }
    return null;
  }

  /** Everything is closed; returns how many timers are left. */
  async end(): Promise<number> {
    for (const session of this.#sessions) session.endpoint.shutDown();
    await this.#everythingArrives();
    this.#device.crash();
    jest.advanceTimersByTime(AIP_LIMITS.endedSessionMs);
    return jest.getTimerCount();
  }

  get waiting(): string {
    const open = this.agent.attempts.filter(({ final }) => final === null).map(({ commandId }) => commandId);
    return JSON.stringify({
      open,
      idle: this.#device.isIdle,
      phase: this.#presence.holder?.endpoint.phase,
    });
  }

  get #isQuiet(): boolean {
    return this.agent.attempts.every(({ final }) => final !== null) && this.#device.isIdle;
  }

  #act(act: Act): void {
    const dice = this.#dice;
    switch (act) {
      case 'start':
        return this.#start();
      case 'ask':
        return this.#some((attempt) => this.agent.ask(attempt, Date.now()));
      case 'stop':
        return this.#some((attempt) => (attempt.stop = true));
      case 'close':
        return dice.chance(0.2) ? this.#some((attempt) => this.agent.close(attempt)) : undefined;
      case 'agent dies':
        return dice.chance(0.3) ? this.agent.forgetQuestions() : undefined;
      case 'deliver':
        for (const { wire } of this.#sessions) wire.deliver(dice.int(1, 8));
        return;
      case 'flush':
        return this.#device.flush();
      case 'finish':
        return this.#device.finishOne(dice.int(0, 3));
      case 'connect':
        return this.#connect();
      case 'grant':
        return this.#grant();
      case 'look':
        return this.#sessions[dice.int(0, 3)]?.look();
      case 'wait':
        return this.#advance(dice.pick([TICK_MS, TICK_MS, 2_000, 6_000, 40_000]));
      case 'break':
        return dice.chance(0.4) ? this.#break() : undefined;
      case 'crash':
        if (!dice.chance(0.3)) return;
        this.#device.crash();
        this.#device = this.#newDevice();
    }
  }

  #newDevice(): DeviceUnderTest {
    return this.disk.journalId === null ? new ForeignDevice(this.disk) : new DeviceLife(this.disk, this.#ways);
  }

  #start(): void {
    const sessionId = this.#presence.holder?.sessionId;
    if (sessionId === undefined || this.agent.attempts.length >= TASKS_MAX) return;
    const until = Date.now() + this.#dice.pick([3_000, 30_000, 600_000]);
    this.agent.start(`t${this.agent.attempts.length}`, sessionId, new Date(until).toISOString());
  }

  #some(act: (attempt: Attempt) => void): void {
    const { attempts } = this.agent;
    if (attempts.length > 0) act(this.#dice.pick(attempts));
  }

  #connect(): void {
    if (this.#device.isConnected) return;
    const wire = new Wire();
    this.#sessions.push(new GatewaySession(wire, this.#presence, this.agent.bus()));
    this.#device.connect(wire);
  }

  #grant(): void {
    for (const session of this.#sessions) session.grant();
  }

  /** The cable is cut: the ends find out together, or one of them, or neither until they have waited long enough. */
  #break(): void {
    const session = this.#sessions.at(-1);
    if (session === undefined) return;
    session.wire.break();
    const who = this.#dice.pick(['both', 'device', 'server', 'nobody']);
    if (who === 'both' || who === 'device') session.wire.notice('device');
    if (who === 'both' || who === 'server') session.wire.notice('server');
  }

  #advance(ms: number): void {
    for (let left = ms; left > 0; left -= TICK_MS) {
      jest.advanceTimersByTime(TICK_MS);
      this.agent.tick(Date.now());
      for (const session of this.#sessions) {
        session.wire.advance(TICK_MS);
        session.tick();
      }
      this.#device.tick();
    }
    this.#sessions = this.#sessions.filter((session) => !session.isClosed || session.wire.isOpen('device'));
  }

  async #everythingArrives(): Promise<void> {
    for (let round = 0; round < 4; round++) {
      for (const { wire } of this.#sessions) wire.deliver();
      this.#device.flush();
      await this.#settle();
    }
  }

  #settle(): Promise<void> {
    return new Promise((resolve) => turn(resolve));
  }
}

const ACTS = [
  'start',
  'start',
  'ask',
  'ask',
  'ask',
  'stop',
  'close',
  'agent dies',
  'deliver',
  'deliver',
  'deliver',
  'deliver',
  'flush',
  'flush',
  'finish',
  'finish',
  'connect',
  'connect',
  'grant',
  'look',
  'wait',
  'wait',
  'break',
  'crash',
] as const;
type Act = (typeof ACTS)[number];

/** What an attempt's end says about whether its command was executed. */
export function claimOf({ final }: Attempt): 'executed' | 'not executed' | 'unknown' | 'either' {
  if (final === null) return 'either';
  if (final.state === 'not-sent') return 'not executed';
  if (final.state === 'refused') return final.code === 'OUTCOME_UNKNOWN' ? 'unknown' : 'not executed';
  if (final.state !== 'finished') return 'either';
  const { state, error } = final.outcome;
  if (state === 'COMPLETED') return 'executed';
  if (state === 'OUTCOME_UNKNOWN') return 'unknown';
  return NOT_EXECUTED.has(error?.code ?? '') ? 'not executed' : 'either';
}

/** `ATTEMPT_STOPPED` may come before or in the middle. */
const NOT_EXECUTED = new Set(['CANCELLED', 'EXPIRED', 'DEVICE_BUSY', 'JOURNAL_FULL', 'UNKNOWN_TOOL']);

export const executionsOf = ({ executions }: Disk, commandId: CommandId): number => executions.get(commandId) ?? 0;
