import { Controller, Get, Header, Inject } from '@nestjs/common';
import { HealthCheck, HealthCheckService, type HealthCheckResult } from '@nestjs/terminus';
import { HealthIndicators } from './health.js';
import { Metrics } from './metrics.js';

/** The three addresses every service answers on its HTTP port. */
@Controller()
export class HealthController {
  readonly #health: HealthCheckService;
  readonly #indicators: HealthIndicators;
  readonly #metrics: Metrics;

  constructor(
    @Inject(HealthCheckService) health: HealthCheckService,
    @Inject(HealthIndicators) indicators: HealthIndicators,
    @Inject(Metrics) metrics: Metrics,
  ) {
    this.#health = health;
    this.#indicators = indicators;
    this.#metrics = metrics;
  }

  /** The process answers: says nothing about the things it needs, so that a broken bus does not restart every service. */
  @Get('healthz')
  alive(): { status: 'ok' } {
    return { status: 'ok' };
  }

  @Get('readyz')
  @HealthCheck()
  ready(): Promise<HealthCheckResult> {
    return this.#health.check(this.#indicators.all().map((check) => async () => check()));
  }

  @Get('metrics')
  @Header('Content-Type', 'text/plain; version=0.0.4; charset=utf-8')
  metrics(): Promise<string> {
    return this.#metrics.registry.metrics();
  }
}
