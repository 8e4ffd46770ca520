import type { NatsConnection } from '@nats-io/transport-node';
import type { Clock, Metrics, Postgres } from '#libs/platform';
import { busFigures } from './bus-figures.adapter.js';
import { openRunFigures } from './open-run-figures.adapter.js';
import { projectionFigures } from './projection-figures.adapter.js';
import { storageFigures } from './storage-figures.adapter.js';

export interface FiguresParts {
  readonly nc: NatsConnection;
  readonly postgres: Postgres;
  readonly clock: Clock;
  readonly metrics: Metrics;
}

/** What is looked up whenever somebody collects metrics: nothing is, while nobody does. */
export class Figures {
  constructor(parts: FiguresParts) {
    busFigures(parts);
    openRunFigures(parts);
    projectionFigures(parts);
    storageFigures(parts);
  }
}
