import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import type { Member, RunId } from '#proto';
import { openAttemptLog, openPlanLog, openRunLog } from '#libs/event-log';
import { ConditionJudge } from '#libs/judging';
import {
  Actors,
  getArtifact,
  handAgain,
  Members,
  RunTimers,
  type Served,
  serveQueries,
  type StreamHandlers,
} from '#libs/messaging';
import type { Clock } from '#libs/platform';
import { storedEnds, storedWords, RunServer } from './runs/index.js';
import { FleetViewConsumer, Fleet } from './fleet/index.js';
import { IntakeConsumer, PartitionsConsumer, type PlanApproval, SubmitHandler, VerbsHandler } from './inputs/index.js';

const SERVICE = 'orchestrator';
const PLANNER = 'planner';

export interface OrchestratorParts {
  readonly nc: NatsConnection;
  readonly clock: Clock;
  readonly instance: string;
  readonly logger: Logger;
  /** Tasks that may run in the whole fleet at a time; without it the devices' own limits are all. */
  readonly tasksMax?: number | undefined;
  /** `required`: every plan that is made for a goal waits for a person, whatever its request says. */
  readonly planApproval?: PlanApproval | undefined;
}

/** Puts the parts of one replica together and gives them their order: the view first, inputs last, and back at the end. */
export class Orchestrator {
  readonly server: RunServer;
  readonly #fleet: FleetViewConsumer;
  readonly #intake: IntakeConsumer;
  readonly #judge: ConditionJudge;
  readonly #members: Members;
  readonly #partitions: PartitionsConsumer;
  readonly #nc: NatsConnection;
  readonly #logger: Logger;
  #actors: Actors | undefined;
  #queries: Served | undefined;
  #plannerIsThere = false;

  constructor({ nc, clock, instance, logger, tasksMax, planApproval }: OrchestratorParts) {
    this.#nc = nc;
    const fleet = new Fleet(tasksMax);
    const by = { service: SERVICE, instance };
    const attempts = openAttemptLog(nc);
    const plans = openPlanLog(nc);
    const log = openRunLog(nc);
    this.#judge = new ConditionJudge({ artifact: (sha256) => getArtifact(nc, sha256) });
    const alive = () => this.#members.alive();
    this.server = new RunServer({
      log,
      endsOf: async (run) => (await Promise.all([storedEnds(attempts, run), storedWords(plans, run)])).flat(),
      wakeUps: new RunTimers(nc),
      fleet,
      clock,
      alive,
      by,
      logger,
      planner: () => this.#plannerIsThere,
      judge: (questions) => this.#judge.judge(questions),
    });
    const owns = (runId: RunId) => alive() && this.#partitions.owns(runId);
    const submit = new SubmitHandler({ nc, server: this.server, owns, clock, planApproval });
    const actors: Pick<Actors, 'actorOf' | 'grantOf'> = {
      actorOf: (...asked) => this.#known().actorOf(...asked),
      grantOf: (...asked) => this.#known().grantOf(...asked),
    };
    const verbs = new VerbsHandler({ nc, log, server: this.server, actors, owns, clock });
    this.#partitions = new PartitionsConsumer(nc, { server: this.server, submit, verbs, logger });
    this.#fleet = new FleetViewConsumer(nc, { fleet, clock, logger, instance });
    this.#intake = new IntakeConsumer(nc, submit, logger);
    this.#logger = logger;
    this.#members = new Members(nc, {
      service: SERVICE,
      instance,
      clock,
      running: () => Object.fromEntries([...fleet.own].filter(([, count]) => count > 0)),
      changed: (partitions) => void this.#partitions.serve(partitions),
      seen: (members) => this.#see(members),
      report: (error) => logger.warn({ err: error }, 'membership'),
    });
  }

  async start(): Promise<void> {
    this.#actors = await Actors.open(this.#nc, (error) => this.#logger.warn({ err: error }, 'actors'));
    await this.#fleet.start();
    this.#members.start();
    this.#intake.start();
    const handlers: StreamHandlers = {
      REQUESTS: (message) => this.#intake.take(message),
      ATTEMPTS: (message) => this.#partitions.handleAttempt(message),
      PLANS: (message) => this.#partitions.handlePlan(message),
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
    await this.#judge.close();
    this.#fleet.stop();
    await this.#actors?.stop();
  }

  #see(members: readonly Member[]): void {
    this.#plannerIsThere = members.some(({ service }) => service === PLANNER);
    this.#fleet.members(members);
  }

  #known(): Actors {
    if (this.#actors === undefined) throw new Error('the orchestrator has not started');
    return this.#actors;
  }
}
