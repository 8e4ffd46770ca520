import { useMemo, useState, type ReactElement } from 'react';
import { callText, targetText } from '#libs/constellation';
import type { TaskConstellation, TaskStar } from '#proto';
import { skyOfPlan } from '../../model/index.js';
import { Dialog, Empty, Facts, Foreign, Loading, late } from '../../parts/index.js';
import { words } from '../../words/index.js';

const SkyView = late(async () => (await import('../run/sky/index.js')).SkyView);

/** The plan that a form comes to: its stars, and of each what exactly would be done. */
export function PlanPreview({ plan }: { readonly plan: TaskConstellation }): ReactElement {
  const sky = useMemo(() => skyOfPlan(plan), [plan]);
  const [chosen, setChosen] = useState<string>();
  const task = plan.tasks.find(({ id }) => id === chosen);
  return (
    <>
      <div className="plan-sky">
        <SkyView sky={sky} now={undefined} chosen={chosen} onChoose={setChosen} />
      </div>
      {task === undefined ? null : <PlannedTask task={task} onClose={() => setChosen(undefined)} />}
    </>
  );
}

function PlannedTask({ task, onClose }: { readonly task: TaskStar; readonly onClose: () => void }): ReactElement {
  const { name, description, target, command, verify } = task;
  return (
    <Dialog side open title={name} onClose={onClose}>
      <Facts
        of={[
          [words.runbooks.description, description === '' ? null : <Foreign text={description} />],
          [words.runbooks.target, <Foreign text={targetText(target)} />],
          [
            words.runbooks.command,
            command === undefined ? (
              words.runbooks.inWords
            ) : (
              <code className="block">
                <Foreign text={callText(command)} />
              </code>
            ),
          ],
          [
            words.runbooks.verify,
            verify === undefined ? null : (
              <code>
                <Foreign text={verify.command === undefined ? (verify.condition ?? '') : callText(verify.command)} />
              </code>
            ),
          ],
        ]}
      />
    </Dialog>
  );
}

/** While there is no plan: why. */
export function NoPlan({ isComing }: { readonly isComing: boolean }): ReactElement {
  return isComing ? <Loading /> : <Empty title={words.runbooks.noPlan} />;
}
