import { Module } from '@nestjs/common';
import { meteredLog, openAttemptLog, openPlanLog, openRunLog, RUN_LOG, type RunLog } from '#libs/event-log';
import { ConditionJudge } from '#libs/judging';
import { Actors, BusStrategy, getArtifact, Members, RunTimers } from '#libs/messaging';
import { CLOCK, INSTANCE, knowsActors, loadConfig, LOGGER, Metrics, NATS, part, token } from '#libs/platform';
import { Fleet, FleetViewConsumer } from './fleet/index.js';
import {
  KvVerbAnswers,
  PartitionInputs,
  Partitions,
  RequestInputs,
  SubmitHandler,
  VerbsHandler,
} from './inputs/index.js';
import { OrchestratorConfig } from './orchestrator.config.js';
import { runFigures, RunServer, storedEnds, storedWords } from './runs/index.js';

const SERVICE = 'orchestrator';

export const ORCHESTRATOR_CONFIG = token<OrchestratorConfig>('ORCHESTRATOR_CONFIG');
const RUNS = token<RunLog>('RUNS');
/** Whether this replica may serve a run now. */
const OWNS = token<(runId: string) => boolean>('OWNS');

/**
 * One replica of the orchestrator: the view of the fleet first, then the membership that partitions come with, inputs last.
 *
 *   REQUESTS, submit ──► SubmitHandler ──┐
 *   ATTEMPTS, PLANS, TIMERS, verbs ──────┴──► RunServer: load, decide, append ──► RUNS
 */
@Module({
  controllers: [RequestInputs, PartitionInputs],
  providers: [
    part(ORCHESTRATOR_CONFIG, [], () => loadConfig(OrchestratorConfig)),
    part(RUNS, [NATS, Metrics], (nc, metrics) => meteredLog(openRunLog(nc), { metrics, stream: RUN_LOG.stream })),
    knowsActors(),
    part(KvVerbAnswers, [NATS], (nc) => KvVerbAnswers.open(nc)),
    part(Fleet, [ORCHESTRATOR_CONFIG], ({ tasksMax }) => new Fleet(tasksMax)),
    part(
      FleetViewConsumer,
      [NATS, Fleet, CLOCK, LOGGER, INSTANCE],
      (nc, fleet, clock, logger, instance) => new FleetViewConsumer(nc, { fleet, clock, logger, instance }),
    ),
    part(ConditionJudge, [NATS], (nc) => new ConditionJudge({ artifact: (sha256) => getArtifact(nc, sha256) })),
    part(Partitions, [BusStrategy], (bus) => new Partitions(bus)),
    part(
      Members,
      [NATS, INSTANCE, CLOCK, LOGGER, Fleet, FleetViewConsumer, Partitions],
      (nc, instance, clock, logger, fleet, view, partitions) =>
        new Members(nc, {
          service: SERVICE,
          instance,
          clock,
          running: () => Object.fromEntries([...fleet.own].filter(([, count]) => count > 0)),
          changed: (owned) => void partitions.serve(owned),
          seen: (all) => view.members(all),
          report: (error) => logger.warn({ err: error }, 'membership'),
        }),
    ),
    part(OWNS, [Members, Partitions], (members, partitions) => (runId) => members.alive() && partitions.owns(runId)),
    part(
      RunServer,
      [
        RUNS,
        NATS,
        Fleet,
        FleetViewConsumer,
        Members,
        Partitions,
        ConditionJudge,
        Actors,
        CLOCK,
        INSTANCE,
        LOGGER,
        Metrics,
        ORCHESTRATOR_CONFIG,
      ],
      (log, nc, fleet, view, members, partitions, judge, actors, clock, instance, logger, metrics, config) => {
        const [attempts, plans] = [openAttemptLog(nc), openPlanLog(nc)];
        const server = new RunServer({
          log,
          endsOf: async (run) => (await Promise.all([storedEnds(attempts, run), storedWords(plans, run)])).flat(),
          wakeUps: new RunTimers(nc),
          fleet,
          clock,
          alive: () => members.alive(),
          by: { service: SERVICE, instance },
          logger,
          planner: () => view.hasPlanner,
          model: () => view.hasModel,
          approvers: () => actors.directory.approvers().map(({ id }) => id),
          standing: (contentHash, now) => actors.directory.standing(contentHash, now),
          judge: (questions) => judge.judge(questions),
          figures: runFigures(metrics, config.metricsLabels),
        });
        partitions.onLoss(() => server.drop((runId) => partitions.owns(runId)));
        return server;
      },
    ),
    part(
      SubmitHandler,
      [NATS, RunServer, Actors, OWNS, CLOCK, ORCHESTRATOR_CONFIG],
      (nc, server, actors, owns, clock, { planApproval, approvals, judge }) =>
        new SubmitHandler({ nc, server, actors, owns, clock, planApproval, approvals, judge }),
    ),
    part(
      VerbsHandler,
      [NATS, RUNS, RunServer, Actors, OWNS, KvVerbAnswers, CLOCK, ORCHESTRATOR_CONFIG],
      (nc, log, server, actors, owns, answers, clock, { approvals, judge }) =>
        new VerbsHandler({ nc, log, server, actors, owns, answers, clock, approvals, judge }),
    ),
  ],
})
export class OrchestratorModule {}
