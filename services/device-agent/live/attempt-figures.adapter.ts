import type { AttemptCommit } from '#proto';
import type { Metrics } from '#libs/platform';

/** What became of commands and attempts, out of the facts that this replica stores. */
export function attemptFigures(metrics: Metrics): (commit: AttemptCommit) => void {
  const judged = metrics.counter(
    'policy_decisions_total',
    'Commands that were judged, by what they do and what followed',
    ['class', 'decision', 'origin'],
  );
  const finished = metrics.counter('commands_finished_total', 'Commands on devices, by how they ended', ['state']);
  return ({ events }) => {
    for (const { type, data } of events) {
      if (type === 'COMMAND_JUDGED') {
        const { class: worst, decision, origin } = data;
        judged.inc({ class: worst, decision, origin });
      } else if (type === 'COMMAND_FINISHED') finished.inc({ state: data.state });
    }
  };
}
