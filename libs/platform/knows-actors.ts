import type { FactoryProvider } from '@nestjs/common';
import { Actors, authorityOf, BusStrategy } from '#libs/messaging';
import { untilItWorks } from './connections/index.js';
import { stopping } from './process/index.js';
import { CLOCK, LOGGER, NATS, part } from './wiring/index.js';

/** Provides Actors: who has signed something, and what he is trusted with. The queries of the service are answered to them. */
export function knowsActors(): FactoryProvider<Actors> {
  return part(Actors, [NATS, BusStrategy, CLOCK, LOGGER], async (nc, bus, clock, logger) => {
    const report = (error: unknown): void => logger.warn({ reason: String(error) }, 'actors: watching again');
    const { signal } = stopping;
    const actors = await untilItWorks(() => Actors.open(nc, report), { what: 'ACTORS', logger, signal });
    bus.admit(authorityOf(actors, clock));
    return actors;
  });
}
