import type { Transport, TransportHandlers } from './transport.js';

/** Two ends of a connection without a network. Frames wait until `deliver`, so a test decides what overtakes what. */
export interface LinkedPair {
  readonly left: Transport;
  readonly right: Transport;
  /** Delivers up to `frames` frames (default: all, and what they cause) and returns how many there were. */
  deliver(frames?: number): number;
  /** The cable is cut: both ends see 1006, what was on the way is lost. */
  cut(): void;
}

/** What a socket reports when no close frame came. */
const CUT = 1006;

type Side = 'left' | 'right';
const other = (side: Side): Side => (side === 'left' ? 'right' : 'left');

export function linkedPair(): LinkedPair {
  const handlers: Partial<Record<Side, TransportHandlers>> = {};
  const paused = { left: false, right: false };
  let onTheWay: { to: Side; text: string | null; bytes?: Uint8Array }[] = [];
  let open = true;

  const end = (code: number, reason: string): void => {
    if (!open) return;
    open = false;
    onTheWay = [];
    handlers.left?.closed({ code, reason });
    handlers.right?.closed({ code, reason });
  };
  const transport = (side: Side): Transport => ({
    handle: (given) => void (handlers[side] = given),
    send: (text) => {
      if (open) onTheWay.push({ to: other(side), text });
      return open;
    },
    sendBytes: (bytes) => {
      if (open) onTheWay.push({ to: other(side), text: null, bytes });
      return open;
    },
    close: (code, reason) => {
      deliverAll();
      end(code, reason);
    },
    terminate: () => end(CUT, ''),
    pause: () => void (paused[side] = true),
    resume: () => void (paused[side] = false),
    congested: false,
  });
  const deliverOne = (): boolean => {
    const index = onTheWay.findIndex(({ to }) => !paused[to] && handlers[to] !== undefined);
    const [next] = index < 0 ? [] : onTheWay.splice(index, 1);
    if (next === undefined) return false;
    handlers[next.to]?.frame(next.text, next.bytes);
    return true;
  };
  const deliverAll = (frames = Infinity): number => {
    let delivered = 0;
    while (delivered < frames && deliverOne()) delivered++;
    return delivered;
  };
  return {
    left: transport('left'),
    right: transport('right'),
    deliver: deliverAll,
    cut: () => end(CUT, ''),
  };
}
