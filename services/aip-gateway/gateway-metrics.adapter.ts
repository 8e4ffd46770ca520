import type { DeviceAnswer } from '#proto';
import type { Metrics } from '#libs/platform';

const SECONDS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800];

/** What the gateway counts. */
export interface GatewayMetrics {
  handshakeRefused(status: number): void;
  registered(): void;
  unregistered(): void;
  replaced(): void;
  frameRefused(): void;
  /** A command got its final answer; `roundTripMs` when the device was involved. */
  answered(answer: DeviceAnswer, roundTripMs: number | null): void;
}

export function gatewayMetrics(metrics: Metrics): GatewayMetrics {
  const connected = metrics.gauge('aip_devices_connected', 'devices with a session on this gateway');
  const refused = metrics.counter('aip_handshakes_refused_total', 'upgrades refused, by HTTP status', ['status']);
  const replaced = metrics.counter('aip_sessions_replaced_total', 'sessions closed because a newer one took over');
  const frames = metrics.counter('aip_frames_refused_total', 'frames answered with ERROR');
  const commands = metrics.counter('aip_commands_total', 'commands by their final answer', ['outcome']);
  const roundTrip = metrics.histogram(
    'aip_command_round_trip_seconds',
    'from sending a command to the device to its result',
    { buckets: SECONDS },
  );
  connected.set(0);
  return {
    handshakeRefused: (status) => refused.inc({ status: String(status) }),
    registered: () => connected.inc(),
    unregistered: () => connected.dec(),
    replaced: () => replaced.inc(),
    frameRefused: () => frames.inc(),
    answered: (answer, roundTripMs) => {
      if (answer.state === 'finished') commands.inc({ outcome: answer.outcome.state });
      if (answer.state === 'refused') commands.inc({ outcome: answer.code });
      if (answer.state === 'finished' && roundTripMs !== null) roundTrip.observe(roundTripMs / 1_000);
    },
  };
}
