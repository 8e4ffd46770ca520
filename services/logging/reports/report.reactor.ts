import { jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import type { RunId } from '#proto';
import { renderReport } from '#libs/constellation';
import type { Postgres } from '#libs/platform';
import { hasAgents, hasRounds, sayingsOf, storiesOf } from './stored-facts.adapter.js';
import { checkpointOf, Follower, type ProjectionReader } from '../projection/index.js';
import { Wake } from './wake.js';

export interface ReportsOptions {
  readonly nc: NatsConnection;
  readonly postgres: Pick<Postgres, 'ready'>;
  readonly reader: ProjectionReader;
  readonly logger: Logger;
}

/** Of a report whose run's attempts have more to say each time that it is written. */
const WRITES_MAX = 5;

/**
 * Writes the report of every run that ended. The end of a run follows from the ends of its attempts and from plans, so everything
 * the report needs is in ATTEMPTS and PLANS by then; it is written as soon as their projections have come that far.
 */
export class ReportWriter extends Follower {
  readonly #options: ReportsOptions;
  readonly #wake = new Wake();

  constructor(options: ReportsOptions) {
    super('reports', options.logger);
    this.#options = options;
  }

  /** Something was projected: look for runs that ended. */
  notice(): void {
    this.#wake.raise();
  }

  /** The stored report of the run's last state, or a new one; undefined when the run is unknown. */
  async reportOf(runId: RunId): Promise<string | undefined> {
    const { reader } = this.#options;
    const run = await reader.readRun(runId);
    if (run === undefined) return undefined;
    const stored = await reader.readReport(runId, run.sequence);
    if (stored !== undefined) return stored;
    return (await this.#rendered(runId))?.markdown;
  }

  async #rendered(runId: RunId): Promise<{ sequence: number; markdown: string; isOfAgents: boolean } | undefined> {
    const { nc, reader } = this.#options;
    const input = await reader.readReportInput(runId);
    if (input === undefined) return undefined;
    const { signal } = this;
    const isOfAgents = hasAgents(input.commits);
    const stories = isOfAgents ? await storiesOf(nc, runId, { signal }) : {};
    const sayings = hasRounds(input.commits) ? await sayingsOf(nc, runId, { signal }) : {};
    return { sequence: input.run.sequence, markdown: renderReport({ ...input, ...stories, ...sayings }), isOfAgents };
  }

  /** Until no run is left; a run that ended while ATTEMPTS or PLANS was behind is met again at the next notice. */
  protected async follow(signal: AbortSignal): Promise<void> {
    await this.#options.postgres.ready();
    const skipped = new Set<RunId>();
    for (;;) {
      const ended = (await this.#options.reader.runsWithoutReport()).filter((runId) => !skipped.has(runId));
      if (ended.length === 0 || signal.aborted) return;
      if (!(await this.#causesAreProjected())) return;
      for (const runId of ended) {
        await this.#write(runId);
        skipped.add(runId);
      }
    }
  }

  protected pause(signal: AbortSignal): Promise<void> {
    return this.#wake.wait(signal);
  }

  /** Once more where something was recorded while it was: pictures are dropped as soon as a run has ended. What comes later takes the report away. */
  async #write(runId: RunId): Promise<void> {
    let before: string | undefined;
    for (let writes = 0; writes < WRITES_MAX; writes++) {
      const rendered = await this.#rendered(runId);
      if (rendered === undefined || rendered.markdown === before) return;
      const { sequence, markdown, isOfAgents } = rendered;
      await this.#options.reader.storeReport({ runId, sequence, markdown });
      this.#options.logger.info({ runId, sequence }, 'report written');
      if (!isOfAgents) return;
      before = markdown;
    }
  }

  /** Asked after the runs were found: what their ends followed from lies before the ends of ATTEMPTS and PLANS as they are now. */
  async #causesAreProjected(): Promise<boolean> {
    const manager = await jetstreamManager(this.#options.nc, { checkAPI: false });
    const source = await this.#options.postgres.ready();
    const reached = await Promise.all(
      (['ATTEMPTS', 'PLANS'] as const).map(async (stream) => {
        const { state } = await manager.streams.info(stream);
        return (await checkpointOf(source, stream)) >= state.last_seq;
      }),
    );
    return reached.every(Boolean);
  }
}
