import type { IncomingMessage } from 'node:http';
import { Controller, Get, Header, HttpException, Inject, Req } from '@nestjs/common';
import { HealthCheck, HealthCheckService, type HealthCheckResult } from '@nestjs/terminus';
import { HealthIndicators } from './health.js';
import { Metrics } from './metrics.js';
import { MetricsAccess } from './metrics-access.js';

/** The three addresses every service answers on its HTTP port. */
@Controller()
export class HealthController {
  readonly #health: HealthCheckService;
  readonly #indicators: HealthIndicators;
  readonly #metrics: Metrics;
  readonly #access: MetricsAccess;

  constructor(
    @Inject(HealthCheckService) health: HealthCheckService,
    @Inject(HealthIndicators) indicators: HealthIndicators,
    @Inject(Metrics) metrics: Metrics,
    @Inject(MetricsAccess) access: MetricsAccess,
  ) {
    this.#health = health;
    this.#indicators = indicators;
    this.#metrics = metrics;
    this.#access = access;
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
  metrics(@Req() { headers, socket }: IncomingMessage): Promise<string> {
    const { host, authorization } = headers;
    const isForwarded = headers.forwarded !== undefined || headers['x-forwarded-for'] !== undefined;
    const verdict = this.#access.judge({ address: socket.remoteAddress, host, authorization, isForwarded });
    if (!verdict.ok) throw new HttpException(verdict.message, verdict.status);
    return this.#metrics.text();
  }
}
