import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import type { RunId } from '#proto';
import type { Run } from '#libs/constellation';
import { openAttemptLog, openRunLog } from '#libs/event-log';
import { handAgain, Members, RunTimers, type Served, serveQueries, type StreamHandlers } from '#libs/messaging';
import type { Clock } from '#libs/platform';
import { storedEnds } from './attempt-ends.client.js';
import { FleetConsumer } from './fleet.consumer.js';
import { Fleet } from './fleet.js';
import { IntakeConsumer } from './intake.consumer.js';
import { PartitionsConsumer } from './partitions.consumer.js';
import { RunServer } from './run-server.handler.js';
import { SubmitHandler } from './submit.handler.js';

const SERVICE = 'orchestrator';

export interface OrchestratorParts {
  readonly nc: NatsConnection;
  readonly clock: Clock;
  readonly instance: string;
  readonly logger: Logger;
}

/** Puts the parts of one replica together and gives them their order: the view first, inputs last, and back at the end. */
export class Orchestrator {
  readonly server: RunServer;
  readonly #fleet: FleetConsumer;
  readonly #intake: IntakeConsumer;
  readonly #members: Members;
  readonly #partitions: PartitionsConsumer;
  readonly #nc: NatsConnection;
  #queries: Served | undefined;

  constructor({ nc, clock, instance, logger }: OrchestratorParts) {
    this.#nc = nc;
    const fleet = new Fleet();
    const by = { service: SERVICE, instance };
    const attempts = openAttemptLog(nc);
    const endsOf = (run: Run) => storedEnds(attempts, run);
    this.server = new RunServer({ log: openRunLog(nc), endsOf, wakeUps: new RunTimers(nc), fleet, clock, by, logger });
    const owns = (runId: RunId) => this.#partitions.owns(runId);
    const submit = new SubmitHandler({ nc, server: this.server, owns, clock });
    this.#partitions = new PartitionsConsumer(nc, { server: this.server, submit, logger });
    this.#fleet = new FleetConsumer(nc, { fleet, logger, instance });
    this.#intake = new IntakeConsumer(nc, submit, logger);
    this.#members = new Members(nc, {
      service: SERVICE,
      instance,
      clock,
      running: () => Object.fromEntries([...fleet.own].filter(([, count]) => count > 0)),
      changed: (partitions) => void this.#partitions.serve(partitions),
      seen: (members) => this.#fleet.members(members),
      report: (error) => logger.warn({ err: error }, 'membership'),
    });
  }

  async start(): Promise<void> {
    await this.#fleet.start();
    this.#members.start();
    this.#intake.start();
    const handlers: StreamHandlers = {
      REQUESTS: (message) => this.#intake.take(message),
      ATTEMPTS: (message) => this.#partitions.handleAttempt(message),
      TIMERS: (message) => this.#partitions.handleDue(message),
    };
    this.#queries = await serveQueries(this.#nc, SERVICE, {
      'dlq-retry': (request) => handAgain(this.#nc, request, handlers),
    });
  }

  async stop(): Promise<void> {
    await this.#queries?.stop();
    await this.#intake.stop();
    await this.#members.stop();
    await this.#partitions.serve(new Set());
    this.#fleet.stop();
  }
}
