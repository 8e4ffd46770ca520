import { useRef, useState, type ReactElement } from 'react';
import {
  Confirm,
  Empty,
  Foreign,
  Icon,
  Loading,
  PageLink,
  Problem,
  dateTimeText,
  type ToConfirm,
} from '../../parts/index.js';
import { ShownScreens, useAsked, useMay, useMe, useMedia, useRows } from '../../wire/index.js';
import { words } from '../../words/index.js';
import { screenActions } from './device-actions.js';
import { handsOn, Stage, type ViewStanding } from './screen/index.js';

/** As the styles know it. */
const SMALL = '(max-width: 599px)';
const OPENING: ViewStanding = { phase: 'opening' };

/** The screen of one device, live: who has it, and the word to take it over and to hand it back. */
export function ScreenPage({ deviceId }: { readonly deviceId: string }): ReactElement {
  const may = useMay();
  const { rows, ready, problem, stale } = useRows('fleet');
  const screens = useAsked('/v1/screens', (json) => ShownScreens.parse(json));
  const device = rows.find((row) => row.deviceId === deviceId);
  const why = problem ?? screens.problem;
  return (
    <div className="page screen-page">
      {stale === undefined ? null : <p className="stale">{words.stale(stale)}</p>}
      {why === undefined ? null : <Problem text={why} />}
      {why === undefined && (!ready || screens.value === undefined) ? <Loading /> : null}
      {ready && device === undefined ? <Empty title={words.fleet.noDevice(deviceId)} /> : null}
      {device === undefined || screens.value === undefined ? null : !screens.value.screens.includes(deviceId) ? (
        <Empty title={words.screen.none(deviceId)}>
          <PageLink href={drawerOf(deviceId)}>{words.screen.toDevice}</PageLink>
        </Empty>
      ) : may('READ_OUTPUT') ? (
        <Seen device={device} />
      ) : (
        <Empty title={words.screen.mayNot} />
      )}
    </div>
  );
}

const drawerOf = (deviceId: string): string => `/fleet?open=${encodeURIComponent(deviceId)}`;

function Seen({ device }: { readonly device: Parameters<typeof screenActions>[0] }): ReactElement {
  const { deviceId, taken } = device;
  const may = useMay();
  const me = useMe();
  const isSmall = useMedia(SMALL);
  const buttons = useRef<HTMLDivElement>(null);
  const [asked, setAsked] = useState<ToConfirm>();
  const [round, setRound] = useState(0);
  const [standing, setStanding] = useState(OPENING);
  const { mayAct, words: whose } = handsOn(taken, me?.actor.id, isSmall);
  const again = (): void => {
    setStanding(OPENING);
    setRound((before) => before + 1);
  };
  return (
    <>
      <div className="page-head">
        <h1>{words.screen.title(deviceId)}</h1>
        <span className={`tag screen-${standing.phase}`} role="status">
          {words.screen.phase[standing.phase]}
        </span>
        <div className="row wrap page-actions" ref={buttons}>
          <PageLink className="button" href={drawerOf(deviceId)}>
            {words.screen.toDevice}
          </PageLink>
          {screenActions(device, may).map(({ name, confirmation }) => (
            <button key={name} type="button" className="button primary" onClick={() => setAsked(confirmation)}>
              {name}
            </button>
          ))}
        </div>
      </div>
      <div role="status" className="screen-whose">
        <p>{whose}</p>
        {taken === undefined ? null : (
          <p className="faint">
            {dateTimeText(taken.heldAt)} <Foreign text={taken.reason} />
          </p>
        )}
      </div>
      {standing.phase === 'ended' ? (
        <p className="row wrap">
          <span role="alert">{standing.why}</span>
          <button type="button" className="button" onClick={again}>
            <Icon name="device" />
            {words.screen.again}
          </button>
        </p>
      ) : (
        <Stage
          key={round}
          deviceId={deviceId}
          mayAct={mayAct}
          hear={setStanding}
          onLeave={() => buttons.current?.querySelector('button')?.focus()}
        />
      )}
      {asked === undefined ? null : <Confirm of={asked} onClose={() => setAsked(undefined)} />}
    </>
  );
}
