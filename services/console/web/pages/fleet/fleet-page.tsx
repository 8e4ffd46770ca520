import { useState, type ReactElement } from 'react';
import { z } from 'zod';
import {
  Confirm,
  Empty,
  goTo,
  Icon,
  Loading,
  Problem,
  WordsField,
  usePlace,
  type ToConfirm,
} from '../../parts/index.js';
import { useAsked, useMay, useRows } from '../../wire/index.js';
import { words } from '../../words/index.js';
import { fleetActions } from './device-actions.js';
import { DeviceCard } from './device-card.js';
import { DeviceDrawer } from './device-drawer.js';
import { EnrollDialog } from './enroll-dialog.js';

const Offered = z.object({ url: z.string().nullable(), release: z.string().nullable() });

/** What of the address says what is shown: words that narrow the list, and the device that is open. */
interface Shown {
  readonly device: string;
  readonly open: string | undefined;
}

function addressOf({ device, open }: Shown): string {
  const said = new URLSearchParams();
  if (device !== '') said.set('device', device);
  if (open !== undefined) said.set('open', open);
  return said.size === 0 ? '/fleet' : `/fleet?${said.toString()}`;
}

/** All devices: how they are, what they work on, and the word of an operator about them. */
export function FleetPage(): ReactElement {
  const may = useMay();
  const { rows, work, ready, problem, stale } = useRows('fleet');
  const { search } = usePlace();
  const offer = useAsked('/v1/enrolments/offer', (json) => Offered.parse(json)).value;
  const [asked, setAsked] = useState<ToConfirm>();
  const [enrolling, setEnrolling] = useState(false);
  const shown: Shown = { device: search.get('device') ?? '', open: search.get('open') ?? undefined };
  const fitting = rows.filter(({ deviceId, tags, capabilities, os, hostname }) =>
    [deviceId, os, hostname, ...tags, ...capabilities].join(' ').toLowerCase().includes(shown.device.toLowerCase()),
  );
  const connected = rows.filter(({ status }) => status === 'connected').length;
  const offered = offer?.release ?? null;
  const workOn = (device: string) => work.filter(({ deviceId }) => deviceId === device);
  const opened = rows.find(({ deviceId }) => deviceId === shown.open);
  return (
    <div className="page">
      <div className="page-head">
        <h1>{words.fleet.title}</h1>
        <span className="faint">{words.fleet.counts(connected, rows.length)}</span>
        <div className="row wrap page-actions">
          {may('registry.enroll') ? (
            <button type="button" className="button primary" onClick={() => setEnrolling(true)}>
              <Icon name="request" />
              {words.fleet.enroll}
            </button>
          ) : null}
          {fleetActions(may).map(({ name, confirmation }) => (
            <button
              key={name}
              type="button"
              className={confirmation.danger === true ? 'button danger apart' : 'button'}
              onClick={() => setAsked(confirmation)}
            >
              {name}
            </button>
          ))}
        </div>
      </div>
      <WordsField
        label={words.fleet.search}
        value={shown.device}
        onChange={(device) => goTo(addressOf({ ...shown, device }), { replace: true })}
      />
      {stale === undefined ? null : <p className="stale">{words.stale(stale)}</p>}
      {problem === undefined ? null : <Problem text={problem} />}
      {ready || problem !== undefined ? null : <Loading />}
      {ready && rows.length === 0 ? <Empty title={words.fleet.none} /> : null}
      {ready && shown.open !== undefined && opened === undefined ? (
        <Problem text={words.fleet.noDevice(shown.open)} />
      ) : null}
      <ul className="cards devices-cards">
        {fitting.map((device) => (
          <DeviceCard
            key={device.deviceId}
            device={device}
            work={workOn(device.deviceId)}
            offered={offered}
            address={addressOf({ ...shown, open: device.deviceId })}
          />
        ))}
      </ul>
      {opened === undefined ? null : (
        <DeviceDrawer
          key={opened.deviceId}
          device={opened}
          work={workOn(opened.deviceId)}
          offered={offered}
          onClose={() => goTo(addressOf({ ...shown, open: undefined }), { replace: true })}
        />
      )}
      {enrolling ? <EnrollDialog url={offer?.url ?? null} onClose={() => setEnrolling(false)} /> : null}
      {asked === undefined ? null : <Confirm of={asked} onClose={() => setAsked(undefined)} />}
    </div>
  );
}
