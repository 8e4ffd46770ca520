import { useMemo, type ReactElement } from 'react';
import type { AgentProfile, TaskView } from '#proto';
import { Empty, Foreign, PageLink } from '../../parts/index.js';
import { useRows } from '../../wire/index.js';
import { words } from '../../words/index.js';
import { deviceState, ScreenLink } from '../fleet/index.js';

interface DevicesProps {
  readonly tasks: readonly TaskView[];
  readonly onChoose: (taskId: string) => void;
}

/** The fleet at a glance, and what of this run is where. Those that have a part in the run come first. */
export function Devices({ tasks, onChoose }: DevicesProps): ReactElement {
  const { rows, work } = useRows('fleet');
  const here = useMemo(() => loadOf(tasks), [tasks]);
  const order = [...rows].sort(
    (left, right) =>
      Number(here.has(right.deviceId)) - Number(here.has(left.deviceId)) || left.deviceId.localeCompare(right.deviceId),
  );
  return (
    <section className="devices" aria-label={words.run.devices}>
      <h2 className="pane-title">
        <PageLink href="/fleet">{words.run.devices}</PageLink>
      </h2>
      {order.length === 0 ? <Empty title={words.fleet.none} /> : null}
      <ul>
        {order.map((device) => (
          <Device
            key={device.deviceId}
            device={device}
            load={here.get(device.deviceId) ?? NO_LOAD}
            busy={work.filter(({ deviceId }) => deviceId === device.deviceId).length}
            onChoose={onChoose}
          />
        ))}
      </ul>
    </section>
  );
}

/** What of a run is on a device. */
interface Load {
  readonly running: TaskView[];
  done: number;
}
const NO_LOAD: Load = { running: [], done: 0 };

function loadOf(tasks: readonly TaskView[]): ReadonlyMap<string, Load> {
  const loads = new Map<string, Load>();
  for (const task of tasks) {
    if (task.device === null) continue;
    const load = loads.get(task.device) ?? { running: [], done: 0 };
    loads.set(task.device, load);
    if (task.status === 'RUNNING') load.running.push(task);
    else load.done += 1;
  }
  return loads;
}

interface DeviceProps extends Pick<DevicesProps, 'onChoose'> {
  readonly device: AgentProfile;
  readonly load: Load;
  readonly busy: number;
}

function Device({ device, load: { running, done }, busy, onChoose }: DeviceProps): ReactElement {
  const state = deviceState(device);
  return (
    <li className={`device device-${state}`}>
      <p className="device-name">
        <span className="lamp" aria-hidden="true" />
        <Foreign text={device.deviceId} />
      </p>
      <p className="device-about">
        {words.fleet.state[state]}
        {busy > 0 ? ` · ${words.fleet.load(busy, device.tasksMax)}` : ''}
      </p>
      {running.map(({ id, name }) => (
        <button key={id} type="button" className="device-task" onClick={() => onChoose(id)}>
          <Foreign text={name} />
        </button>
      ))}
      {running.length > 0 ? <ScreenLink deviceId={device.deviceId} /> : null}
      {done > 0 ? <p className="device-about">{words.run.doneHere(done)}</p> : null}
    </li>
  );
}
