import type { ReactElement } from 'react';
import { isBehind } from '#libs/constellation';
import type { AgentProfile, DeviceAtWork } from '#proto';
import { Ago, Facts, Foreign, PageLink } from '../../parts/index.js';
import { words } from '../../words/index.js';
import { deviceState } from './device-state.js';

interface DeviceCardProps {
  readonly device: AgentProfile;
  readonly work: readonly DeviceAtWork[];
  /** The release that devices are offered here. */
  readonly offered: string | null;
  /** Its details. */
  readonly address: string;
}

/** One device at a glance. */
export function DeviceCard({ device, work, offered, address }: DeviceCardProps): ReactElement {
  const state = deviceState(device);
  const { deviceId, os, arch, agent, tags, capabilities, resources, metrics, lastSeenAt } = device;
  return (
    <li className={`card device-card device-${state}`}>
      <p className="device-name">
        <span className="lamp" aria-hidden="true" />
        <PageLink href={address} aria-label={words.fleet.detailsOf(deviceId)}>
          <strong>
            <Foreign text={deviceId} />
          </strong>
        </PageLink>
        <span className="tag">{words.fleet.state[state]}</span>
        <span className="faint">{words.fleet.load(work.length, device.tasksMax)}</span>
      </p>
      <DeviceTasks of={work} />
      <DeviceNotes device={device} />
      <Facts
        of={[
          [words.fleet.system, <Foreign text={[os, arch].filter((text) => text !== '').join(' ')} />],
          [words.fleet.agent, <Foreign text={agent} />],
          [words.fleet.machine, words.fleet.size(resources.cpuCount, resources.memoryMb)],
          [words.fleet.loadNow, metrics === null || metrics === undefined ? null : words.fleet.metrics(metrics)],
          [words.fleet.version, device.client === undefined ? null : <Release device={device} offered={offered} />],
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
    </li>
  );
}

/** What a device works on now, each a way to it. */
export function DeviceTasks({ of }: { readonly of: readonly DeviceAtWork[] }): ReactElement {
  return (
    <>
      {of.map((task) => (
        <PageLink
          key={`${task.runId} ${task.taskId}`}
          className="device-task"
          href={`/runs/${task.runId}?task=${encodeURIComponent(task.taskId)}`}
        >
          <Foreign text={task.name} />
        </PageLink>
      ))}
    </>
  );
}

/** What people have said about it: that it is held, or revoked, and why. */
export function DeviceNotes({ device: { held, taken, revoked } }: { readonly device: AgentProfile }): ReactElement {
  return (
    <>
      {held === null || held.screen === true ? null : (
        <p className="note">
          {words.fleet.heldBy(held.by.id)} <Foreign text={held.reason} />
        </p>
      )}
      {taken === undefined ? null : (
        <p className="note">
          {words.fleet.takenBy(taken.by.id)} <Foreign text={taken.reason} />
        </p>
      )}
      {revoked === null || revoked === undefined ? null : (
        <p className="problem">
          {words.fleet.revokedBy(revoked.by.id)} <Foreign text={revoked.reason} />
        </p>
      )}
    </>
  );
}

interface ReleaseProps {
  readonly device: AgentProfile;
  readonly offered: string | null;
}

/** The release of its client, and whether that is another one than is offered. */
export function Release({ device, offered }: ReleaseProps): ReactElement {
  const { client } = device;
  return (
    <>
      <Foreign text={client ?? words.fleet.noVersion} />
      {offered !== null && isBehind(device, offered) ? (
        <>
          {' '}
          <span className="tag" title={words.fleet.behind(offered)}>
            {words.fleet.drift}
          </span>
        </>
      ) : null}
    </>
  );
}
