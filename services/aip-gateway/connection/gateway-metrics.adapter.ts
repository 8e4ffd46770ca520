import type { DeviceAnswer } from '#proto';
import type { Metrics } from '#libs/platform';

const SECONDS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800];

export type GatewayMetrics = ReturnType<typeof gatewayMetrics>;

/** What the gateway counts. */
export function gatewayMetrics(metrics: Metrics) {
  const connected = metrics.gauge('aip_devices_connected', 'devices with a session on this gateway');
  const refused = metrics.counter('aip_handshakes_refused_total', 'upgrades refused, by HTTP status', ['status']);
  const identities = metrics.counter('aip_identity_requests_total', 'requests for a credential, by HTTP status', [
    'kind',
    'status',
  ]);
  const replaced = metrics.counter('aip_sessions_replaced_total', 'sessions closed because a newer one took over');
  const contended = metrics.counter(
    'aip_devices_contended_total',
    'times that newcomers were refused because clients took one device from each other',
  );
  const frames = metrics.counter('aip_frames_refused_total', 'frames answered with ERROR');
  const traffic = metrics.counter('aip_frames_total', 'frames by direction and type', ['direction', 'type']);
  const latency = metrics.histogram('aip_ack_round_trip_seconds', 'from sending a frame to its acknowledgement', {
    buckets: SECONDS,
  });
  const delivered = metrics.counter(
    'aip_results_delivered_total',
    'results that nobody asked for, by what became of them',
    ['state'],
  );
  const output = metrics.counter('aip_output_pieces_total', 'pieces of live output, by what became of them', ['fate']);
  const files = metrics.counter('aip_files_total', 'files of devices, by what became of them', [
    'direction',
    'outcome',
  ]);
  const fileBytes = metrics.counter('aip_file_bytes_total', 'bytes of files that arrived', ['direction']);
  const commands = metrics.counter('aip_commands_total', 'commands by their final answer', ['outcome']);
  const roundTrip = metrics.histogram(
    'aip_command_round_trip_seconds',
    'from sending a command to the device to its result',
    { buckets: SECONDS },
  );
  connected.set(0);
  return {
    handshakeRefused: (status: number): void => refused.inc({ status: String(status) }),
    /** Somebody asked for a credential over HTTP. */
    identityAnswered: (kind: 'join' | 'renew' | 'refused', status: number): void =>
      identities.inc({ kind, status: String(status) }),
    registered: (): void => connected.inc(),
    unregistered: (): void => connected.dec(),
    replaced: (): void => replaced.inc(),
    contended: (): void => contended.inc(),
    frameRefused: (): void => frames.inc(),
    frame: (direction: 'in' | 'out', type: string): void => traffic.inc({ direction, type }),
    /** From sending a frame to its acknowledgement. */
    latency: (ms: number): void => latency.observe(ms / 1_000),
    /** A result that nobody asked for was handed over; null when nobody answered. */
    delivered: (state: 'stored' | 'wanted' | 'unknown' | null): void => delivered.inc({ state: state ?? 'no answer' }),
    /** A piece of live output came. */
    output: (fate: 'published' | 'left out'): void => output.inc({ fate }),
    /** A file was stored or given, or was not: then `outcome` is why. */
    fileEnded: (direction: 'up' | 'down', outcome: string, bytes: number): void => {
      files.inc({ direction, outcome });
      if (outcome === 'done') fileBytes.inc({ direction }, bytes);
    },
    /** A command got its final answer; `roundTripMs` when the device was involved. */
    answered: (answer: DeviceAnswer, roundTripMs: number | null): void => {
      if (answer.state === 'finished') commands.inc({ outcome: answer.outcome.state });
      if (answer.state === 'refused') commands.inc({ outcome: answer.code });
      if (answer.state === 'finished' && roundTripMs !== null) roundTrip.observe(roundTripMs / 1_000);
    },
  };
}
