import { CONSTELLATION_SERVER } from './constellation-server.target.js';
import { DEVICE_CLIENT } from './device-client.target.js';
import { DEVICE_SERVER } from './device-server.target.js';
import type { Target } from './subject.js';

/** Every endpoint of AIP that reads what somebody else has sent, and its share of the frames. */
export const TARGETS: readonly { readonly target: Target; readonly share: number }[] = [
  { target: DEVICE_SERVER, share: 0.5 },
  { target: CONSTELLATION_SERVER, share: 0.22 },
  { target: DEVICE_CLIENT, share: 0.23 },
];

/** What is left of the frames goes over real sockets. */
export const SOCKET_SHARE = 0.05;

export const FRAMES_DEFAULT = 200_000;
export const SEED_DEFAULT = 20_261_121;

/** Ten times what is aimed at: whoever hits it blocks everybody else, however busy the machine is. */
export const FRAME_MS_MAX = 1_000;
