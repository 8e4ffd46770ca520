import { useState, type ReactElement } from 'react';
import { deviceWallText, isBehind } from '#libs/constellation';
import type { AgentProfile, DeviceAtWork } from '#proto';
import { Ago, Confirm, dateTimeText, Dialog, Facts, Foreign, ForeignMark, type ToConfirm } from '../../parts/index.js';
import { useMay, useScreens } from '../../wire/index.js';
import { words } from '../../words/index.js';
import { deviceActions } from './device-actions.js';
import { Release, DeviceNotes, DeviceTasks } from './device-card.js';
import { deviceState } from './device-state.js';
import { ProfileSection } from './profile-section.js';
import { ScreenLink } from './screen-link.js';
import { WorkspacesSection } from './workspaces.js';

interface DeviceDrawerProps {
  readonly device: AgentProfile;
  readonly work: readonly DeviceAtWork[];
  readonly offered: string | null;
  readonly onClose: () => void;
}

/** Everything about one device. */
export function DeviceDrawer({ device, work, offered, onClose }: DeviceDrawerProps): ReactElement {
  const may = useMay();
  const isSeen = useScreens()?.has(device.deviceId) === true;
  const [asked, setAsked] = useState<ToConfirm>();
  const state = deviceState(device);
  const { deviceId, tools } = device;
  return (
    <Dialog side open title={deviceId} onClose={onClose}>
      <div className="drawer">
        <div className="row wrap">
          <span className={`device-name device-${state}`}>
            <span className="lamp" aria-hidden="true" />
            <span className="tag">{words.fleet.state[state]}</span>
          </span>
          <span className="faint">{words.fleet.load(work.length, device.tasksMax)}</span>
          {deviceActions(device, may, isSeen).map(({ name, confirmation }) => (
            <button
              key={name}
              type="button"
              className={confirmation.danger === true ? 'button small danger' : 'button small'}
              onClick={() => setAsked(confirmation)}
            >
              {name}
            </button>
          ))}
          <ScreenLink deviceId={deviceId} />
        </div>
        <DeviceNotes device={device} />
        {offered !== null && isBehind(device, offered) ? <p className="note">{words.fleet.behind(offered)}</p> : null}
        <section aria-labelledby="device-work">
          <h3 id="device-work">{words.fleet.work}</h3>
          {work.length === 0 ? <p className="faint">{words.fleet.idle}</p> : <DeviceTasks of={work} />}
        </section>
        <DeviceFacts device={device} offered={offered} />
        <ProfileSection device={device} />
        {device.status === 'connected' ? <WorkspacesSection deviceId={deviceId} /> : null}
        <section aria-labelledby="device-tools">
          <h3 id="device-tools">{words.fleet.tools(tools.length)}</h3>
          <ul className="tools">
            {tools.map(({ name, description, readOnly }) => (
              <li key={name}>
                <code>
                  <Foreign text={name} />
                </code>{' '}
                {readOnly ? <span className="tag">{words.fleet.reads}</span> : null}
                {description === '' ? null : (
                  <>
                    <ForeignMark by="device" /> <Foreign text={description} />
                  </>
                )}
              </li>
            ))}
          </ul>
        </section>
      </div>
      {asked === undefined ? null : <Confirm of={asked} onClose={() => setAsked(undefined)} />}
    </Dialog>
  );
}

function DeviceFacts({ device, offered }: Pick<DeviceDrawerProps, 'device' | 'offered'>): ReactElement {
  const { os, arch, hostname, agent, resources, metrics, session, lastSeenAt, credential, contendedAt, gpus } = device;
  const { tags, capabilities, tasksMax, enrolledAt, status } = device;
  return (
    <Facts
      of={[
        [words.fleet.system, <Foreign text={[os, arch, hostname].filter((text) => text !== '').join(' ')} />],
        [words.fleet.machine, words.fleet.size(resources.cpuCount, resources.memoryMb)],
        [
          words.fleet.gpus,
          gpus === undefined || gpus.length === 0 ? null : <Foreign text={gpus.map(({ name }) => name).join(', ')} />,
        ],
        [words.fleet.loadNow, metrics === null || metrics === undefined ? null : words.fleet.metrics(metrics)],
        [words.fleet.agent, <Foreign text={agent} />],
        [words.fleet.tasksMax, words.fleet.tasksAtOnce(tasksMax)],
        [words.fleet.version, <Release device={device} offered={offered} />],
        [words.fleet.wall, <Foreign text={deviceWallText(device)} />],
        [words.fleet.lastSeen, <LastSeen status={status} at={lastSeenAt} />],
        [words.fleet.seen, session === null ? null : <Ago at={session.connectedAt} />],
        [words.fleet.gateway, session === null ? null : <Foreign text={session.gateway} />],
        [words.fleet.credential, words.fleet.credentials[credential ?? 'none']],
        [words.fleet.contended, contendedAt === undefined ? null : words.fleet.contendedAt(dateTimeText(contendedAt))],
        [words.fleet.tags, tags.length === 0 ? null : <Foreign text={tags.join(', ')} />],
        [words.fleet.capabilities, capabilities.length === 0 ? null : <Foreign text={capabilities.join(', ')} />],
        [words.fleet.enrolled, dateTimeText(enrolledAt)],
      ]}
    />
  );
}

/** One that is connected is there now, whenever that began. */
function LastSeen({ status, at }: { readonly status: AgentProfile['status']; readonly at: string | undefined }) {
  if (status === 'connected') return <>{words.fleet.seenNow}</>;
  return at === undefined ? <>{words.fleet.never}</> : <Ago at={at} />;
}
