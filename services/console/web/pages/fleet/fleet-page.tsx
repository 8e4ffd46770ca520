import { useState, type ReactElement } from 'react';
import type { AgentProfile, DeviceAtWork } from '#proto';
import {
  Ago,
  Confirm,
  Empty,
  Facts,
  Foreign,
  ForeignMark,
  goTo,
  Icon,
  PageLink,
  Loading,
  Problem,
  usePlace,
  type ToConfirm,
} from '../../parts/index.js';
import { askApi, useMay, useRows } from '../../wire/index.js';
import { words } from '../../words/index.js';
import { deviceState } from './device-state.js';

/** All devices: how they are, what they work on, and the word of an operator about them. */
export function FleetPage(): ReactElement {
  const { rows, work, ready, problem, stale } = useRows('fleet');
  const { search } = usePlace();
  const typed = search.get('device') ?? '';
  const shown = rows.filter(({ deviceId, tags, capabilities, os, hostname }) =>
    [deviceId, os, hostname, ...tags, ...capabilities].join(' ').toLowerCase().includes(typed.toLowerCase()),
  );
  const connected = rows.filter(({ status }) => status === 'connected').length;
  return (
    <div className="page">
      <div className="page-head">
        <h1>{words.fleet.title}</h1>
        <span className="faint">{words.fleet.counts(connected, rows.length)}</span>
      </div>
      <label className="search">
        <Icon name="search" />
        <span className="unseen">{words.fleet.search}</span>
        <input
          type="search"
          value={typed}
          placeholder={words.fleet.search}
          onChange={({ target }) =>
            goTo(target.value === '' ? '/fleet' : `/fleet?device=${encodeURIComponent(target.value)}`, {
              replace: true,
            })
          }
        />
      </label>
      {stale === undefined ? null : <p className="stale">{words.stale(stale)}</p>}
      {problem === undefined ? null : <Problem text={problem} />}
      {ready || problem !== undefined ? null : <Loading />}
      {ready && rows.length === 0 ? (
        <Empty title={words.fleet.none}>
          <code>orrery enroll web-1</code>
        </Empty>
      ) : null}
      <ul className="cards devices-cards">
        {shown.map((device) => (
          <DeviceCard
            key={device.deviceId}
            device={device}
            work={work.filter(({ deviceId }) => deviceId === device.deviceId)}
          />
        ))}
      </ul>
    </div>
  );
}

interface DeviceCardProps {
  readonly device: AgentProfile;
  readonly work: readonly DeviceAtWork[];
}

function DeviceCard({ device, work }: DeviceCardProps): ReactElement {
  const may = useMay();
  const [asked, setAsked] = useState<ToConfirm>();
  const state = deviceState(device);
  const { deviceId, os, arch, agent, tags, capabilities, tools, resources, metrics, client, lastSeenAt, held } = device;
  const path = { id: deviceId };
  const hold: ToConfirm = {
    title: words.fleet.holdTitle(deviceId),
    about: words.fleet.holdAbout,
    action: words.fleet.hold,
    text: { label: words.action.reason },
    act: async (reason) =>
      void (await askApi('POST /v1/devices/{id}/hold', { path, body: reason === '' ? {} : { reason } })),
  };
  const release: ToConfirm = {
    title: words.fleet.releaseTitle(deviceId),
    about: words.fleet.releaseAbout,
    action: words.fleet.release,
    act: async () => void (await askApi('POST /v1/devices/{id}/release', { path })),
  };
  return (
    <li className={`card device-card device-${state}`}>
      <p className="device-name">
        <span className="lamp" aria-hidden="true" />
        <strong>
          <Foreign text={deviceId} />
        </strong>
        <span className="tag">{words.fleet.state[state]}</span>
        <span className="faint">{words.fleet.load(work.length, device.tasksMax)}</span>
      </p>
      {work.map((task) => (
        <PageLink
          key={`${task.runId} ${task.taskId}`}
          className="device-task"
          href={`/runs/${task.runId}?task=${encodeURIComponent(task.taskId)}`}
        >
          <Foreign text={task.name} />
        </PageLink>
      ))}
      {held === null ? null : (
        <p className="note">
          {words.fleet.heldBy(held.by.id)} <Foreign text={held.reason} />
        </p>
      )}
      <Facts
        of={[
          [words.fleet.system, <Foreign text={[os, arch].filter((text) => text !== '').join(' ')} />],
          [words.fleet.agent, <Foreign text={agent} />],
          [words.fleet.machine, words.fleet.size(resources.cpuCount, resources.memoryMb)],
          [words.fleet.loadNow, metrics === null || metrics === undefined ? null : words.fleet.metrics(metrics)],
          [words.fleet.version, client === undefined ? null : <Foreign text={client} />],
          [words.fleet.seen, lastSeenAt === undefined ? words.fleet.never : <Ago at={lastSeenAt} />],
        ]}
      />
      <p className="labels">
        {[...tags, ...capabilities].map((text) => (
          <span key={text} className="label">
            <Foreign text={text} />
          </span>
        ))}
      </p>
      {tools.length === 0 ? null : (
        <details>
          <summary>{words.fleet.tools(tools.length)}</summary>
          <ul className="tools">
            {tools.map(({ name, description }) => (
              <li key={name}>
                <code>
                  <Foreign text={name} />
                </code>{' '}
                <ForeignMark by="device" /> <Foreign text={description} />
              </li>
            ))}
          </ul>
        </details>
      )}
      <div className="row wrap">
        {may('registry.hold') && state === 'connected' ? (
          <button type="button" className="button small" onClick={() => setAsked(hold)}>
            {words.fleet.hold}
          </button>
        ) : null}
        {may('registry.release') && held !== null ? (
          <button type="button" className="button small" onClick={() => setAsked(release)}>
            {words.fleet.release}
          </button>
        ) : null}
      </div>
      {asked === undefined ? null : <Confirm of={asked} onClose={() => setAsked(undefined)} />}
    </li>
  );
}
