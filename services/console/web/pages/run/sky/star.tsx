import { Handle, Position, type Node, type NodeProps } from '@xyflow/react';
import { memo, type ReactElement } from 'react';
import type { Star } from '../../../model/index.js';
import { Elapsed, Foreign, Icon, StatusSign } from '../../../parts/index.js';
import { words } from '../../../words/index.js';

export type StarNode = Node<
  { readonly star: Star; readonly now: number | undefined; readonly direction: 'LR' | 'TB' },
  'star'
>;

function StarBox({ data: { star, now, direction }, selected }: NodeProps<StarNode>): ReactElement {
  const [into, out] = direction === 'LR' ? [Position.Left, Position.Right] : [Position.Top, Position.Bottom];
  return (
    <>
      <Handle type="target" position={into} isConnectable={false} />
      <StarText star={star} now={now} chosen={selected} />
      <Handle type="source" position={out} isConnectable={false} />
    </>
  );
}

export const StarView = memo(StarBox);

interface StarTextProps {
  readonly star: Star;
  readonly now: number | undefined;
  readonly chosen: boolean;
}

function Text({ star, now, chosen }: StarTextProps): ReactElement {
  const { status, name, device, attempts, startedAt, endedAt, held, asks, edited } = star;
  const classes = [
    'star',
    `status-${status.toLowerCase()}`,
    ...(chosen ? ['chosen'] : []),
    ...(held ? ['held'] : []),
    ...(asks ? ['asks'] : []),
    ...(edited === null ? [] : [`edited-${edited}`]),
  ];
  return (
    <div className={classes.join(' ')}>
      <div className="star-head">
        <StatusSign status={status} />
        <span className="star-name">
          <Foreign text={name} />
        </span>
        {edited === null ? null : <span className="tag">{words.edited[edited]}</span>}
      </div>
      <div className="star-device">
        {device === null ? (
          <span className="faint">{held ? words.held : words.noDevice}</span>
        ) : (
          <>
            <Icon name="device" />
            <Foreign text={device} />
          </>
        )}
      </div>
      <div className="star-foot">
        <span>{asks ? words.asks : words.status[status]}</span>
        {attempts > 1 ? <span>{words.attempt(attempts)}</span> : null}
        {startedAt === null || status === 'PENDING' ? null : <Elapsed from={startedAt} until={endedAt} now={now} />}
      </div>
    </div>
  );
}

/** What a star says. */
export const StarText = memo(Text);

/** What a screen reader says of a star. */
export function spokenOf({ name, status, device, attempts }: Star): string {
  const where = device === null ? '' : `, ${words.on(device)}`;
  return `${name}, ${words.status[status]}${where}${attempts > 1 ? `, ${words.attempt(attempts)}` : ''}`;
}
