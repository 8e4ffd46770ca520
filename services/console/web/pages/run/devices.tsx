import type { ReactElement } from 'react';
import type { AgentProfile, TaskView } from '#proto';
import { Empty, Foreign, PageLink } from '../../parts/index.js';
import { useRows } from '../../wire/index.js';
import { words } from '../../words/index.js';
import { deviceState } from '../fleet/index.js';

interface DevicesProps {
  readonly tasks: readonly TaskView[];
  readonly onChoose: (taskId: string) => void;
}

/** The fleet at a glance, and what of this run is where. Those that have a part in the run come first. */
export function Devices({ tasks, onChoose }: DevicesProps): ReactElement {
  const { rows, work } = useRows('fleet');
  const here = new Set(tasks.flatMap(({ device }) => device ?? []));
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
            tasks={tasks.filter((task) => task.device === device.deviceId)}
            busy={work.filter(({ deviceId }) => deviceId === device.deviceId).length}
            onChoose={onChoose}
          />
        ))}
      </ul>
    </section>
  );
}

interface DeviceProps extends DevicesProps {
  readonly device: AgentProfile;
  readonly busy: number;
}

function Device({ device, tasks, busy, onChoose }: DeviceProps): ReactElement {
  const state = deviceState(device);
  const running = tasks.filter(({ status }) => status === 'RUNNING');
  const done = tasks.length - running.length;
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
      {done > 0 ? <p className="device-about">{words.run.doneHere(done)}</p> : null}
    </li>
  );
}
