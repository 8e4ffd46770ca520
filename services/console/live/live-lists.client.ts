import type { NatsConnection, Subscription } from '@nats-io/transport-node';
import { query, type QueryAnswer, type QueryName, type QueryRequest } from '#libs/messaging';
import type { Clock } from '#libs/platform';
import { liveSubjectOf, subjects } from '#proto';
import { vouchedFor, type ConsoleCaller } from '../callers/index.js';
import type { Channel } from './channel.js';
import { listChanges, type ListRows } from './list-changes.js';
import { LiveList, type ListState } from './live-list.adapter.js';

/** Of runs and of entries that need somebody: the newest; older ones are asked for over HTTP. */
const ROWS = 200;
const EVERY_MS = 1_000;
/** Runs are told of by what is stored: this is for what was not heard. */
const RUNS_EVERY_MS = 5_000;
const REST_MS = 300;

export interface LiveListsParts {
  readonly nc: NatsConnection;
  readonly clock: Clock;
  /** Of the console's bus key; without it nobody could be asked for. */
  readonly seed: string | undefined;
}

type ListName = 'runs' | 'fleet' | 'attention';

/** The lists that people look at, kept by those who know: one question for all who listen, in the name of one of them who may see it. */
export class LiveLists {
  readonly #parts: LiveListsParts;
  readonly #lists: Readonly<Record<ListName, LiveList<ConsoleCaller>>>;
  #told: Subscription | undefined;

  constructor(parts: LiveListsParts) {
    this.#parts = parts;
    this.#lists = {
      runs: new LiveList({ load: (who) => this.#runs(who), everyMs: RUNS_EVERY_MS, restMs: REST_MS }),
      fleet: new LiveList({ load: (who) => this.#fleet(who), everyMs: EVERY_MS, restMs: REST_MS }),
      attention: new LiveList({ load: (who) => this.#attention(who), everyMs: EVERY_MS, restMs: REST_MS }),
    };
  }

  begin(): void {
    this.#told = this.#parts.nc.subscribe(liveSubjectOf(subjects.anyRun), {
      callback: () => {
        for (const list of [this.#lists.runs, this.#lists.attention, this.#lists.fleet]) if (list.isHeard) list.poke();
      },
    });
  }

  end(): void {
    this.#told?.unsubscribe();
  }

  /** Until nobody listens. */
  async follow(name: ListName, caller: ConsoleCaller, channel: Channel): Promise<void> {
    const shown = new ShownList(name, channel);
    // A caller of its own for each channel: two of the same person leave one after the other.
    for await (const state of this.#lists[name].states({ ...caller }, channel.signal)) {
      if (!(await shown.show(state))) return;
    }
  }

  async #runs(who: ConsoleCaller): Promise<Omit<ListState, 'stale'>> {
    const { runs, more } = await this.#ask('logging', 'runs', { limit: ROWS }, who);
    return { rows: rowsOf(runs, ({ runId }) => runId), isMore: more === true, beside: undefined };
  }

  async #fleet(who: ConsoleCaller): Promise<Omit<ListState, 'stale'>> {
    const [{ devices }, { tasks }] = await Promise.all([
      this.#ask('registry', 'devices', {}, who),
      this.#ask('logging', 'at-work', {}, who),
    ]);
    const beside = `"kind":"work","tasks":${JSON.stringify(tasks)}`;
    return { rows: rowsOf(devices, ({ deviceId }) => deviceId), isMore: false, beside };
  }

  async #attention(who: ConsoleCaller): Promise<Omit<ListState, 'stale'>> {
    const { entries, open, taken, unseen, more } = await this.#ask('logging', 'attention', { limit: ROWS }, who);
    const beside = `"kind":"counts",${JSON.stringify({ open, taken, unseen }).slice(1, -1)}`;
    return { rows: rowsOf(entries, ({ id }) => id), isMore: more === true, beside };
  }

  #ask<S extends 'registry' | 'logging', N extends QueryName<S>>(
    service: S,
    name: N,
    request: QueryRequest<S, N>,
    who: ConsoleCaller,
  ): Promise<QueryAnswer<S, N>> {
    const { nc, clock, seed } = this.#parts;
    const signer = seed === undefined ? undefined : { seed, now: () => clock.now(), vouched: vouchedFor(who) };
    return query(nc, service, name, request, signer === undefined ? {} : { signer });
  }
}

/** What one channel has been told of a list. */
class ShownList {
  readonly #name: ListName;
  readonly #channel: Channel;
  #rows: ListRows | undefined;
  #beside: string | undefined;
  #said: 'nothing' | 'live' | 'stale' = 'nothing';

  constructor(name: ListName, channel: Channel) {
    this.#name = name;
    this.#channel = channel;
  }

  async show(state: ListState): Promise<boolean> {
    if (state.stale !== undefined) {
      if (this.#said === 'stale') return true;
      this.#said = 'stale';
      return this.#channel.say({ kind: 'stale', reason: state.stale.slice(0, 500) });
    }
    for (const change of listChanges(this.#rows, state.rows)) {
      if (change.kind === 'rows') {
        const more = state.isMore ? ',"more":true' : '';
        const list = `{"of":"${this.#name}","rows":[${[...state.rows.values()].join(',')}]}`;
        if (!(await this.#channel.sayJson(`"kind":"rows","list":${list}${more}`))) return false;
      } else if (change.kind === 'row') {
        const item = `{"of":"${this.#name}","row":${change.row}}`;
        if (!(await this.#channel.sayJson(`"kind":"row","item":${item}`))) return false;
      } else if (!(await this.#channel.say(change))) return false;
    }
    this.#rows = state.rows;
    if (state.beside !== undefined && state.beside !== this.#beside) {
      if (!(await this.#channel.sayJson(state.beside))) return false;
      this.#beside = state.beside;
    }
    if (this.#said === 'live') return true;
    this.#said = 'live';
    return this.#channel.say({ kind: 'live' });
  }
}

function rowsOf<R>(rows: readonly R[], idOf: (row: R) => string): ListRows {
  return new Map(rows.map((row) => [idOf(row), JSON.stringify(row)]));
}
