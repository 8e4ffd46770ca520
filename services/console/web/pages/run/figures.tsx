import type { ReactElement } from 'react';
import { metricsOf } from '#libs/constellation';
import type { RunCommit, RunView } from '#proto';
import { tookText } from '../../model/index.js';
import { Facts, Foreign } from '../../parts/index.js';
import { words } from '../../words/index.js';

interface FiguresProps {
  readonly commits: readonly RunCommit[];
  readonly view: RunView;
}

/** What a run comes to so far, in figures; and its final answer. */
export function FiguresView({ commits, view }: FiguresProps): ReactElement {
  const metrics = metricsOf(commits);
  const counts = Object.entries(Object.groupBy(view.tasks, ({ status }) => status));
  return (
    <div className="figures">
      <Facts
        of={[
          [words.figures.tasks, counts.map(([status, tasks]) => `${tasks.length} ${status.toLowerCase()}`).join(', ')],
          [words.figures.revision, view.revision],
          [words.figures.rounds, metrics?.rounds.length ?? 0],
          [words.figures.attempts, metrics?.attempts.length ?? 0],
          [words.figures.orchestration, metrics === null ? '' : tookText(metrics.orchestrationMs)],
          [words.figures.lines, view.lines.length],
          [words.figures.calls, view.used?.llmCalls ?? 0],
          [words.figures.tokens, (view.used?.tokens ?? 0).toLocaleString('en')],
          [words.figures.commands, view.used?.commands ?? 0],
          [words.figures.cost, words.figures.costOf(view.used)],
          [words.figures.request, view.requestId],
          [words.figures.run, view.runId],
          ...Object.entries(view.labels ?? {}).map(([name, value]) => [name, <Foreign text={value} />] as const),
        ]}
      />
      {view.answer === null || view.answer === undefined ? null : (
        <section>
          <h2>{words.figures.answer}</h2>
          <Foreign text={view.answer.text} block />
        </section>
      )}
      {view.notes === null || view.notes === undefined ? null : (
        <section>
          <h2>{words.figures.notes}</h2>
          <ul className="notes">
            {view.notes.map((note) => (
              <li key={`${note.by.id} ${note.text}`}>
                <strong>
                  <Foreign text={note.by.id} />
                </strong>
                : <Foreign text={note.text} />
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}
