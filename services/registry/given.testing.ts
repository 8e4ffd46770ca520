import { testing } from '#libs/fleet';

/** Facts of a device and a client, as short as they can be said. */
export const {
  DEVICE_ID,
  CLIENT_ID,
  T0,
  GRACE_MS,
  at,
  telemetry,
  presence,
  enrolled,
  connected,
  toolsChanged,
  suspect,
  lost,
  ANNA,
  HELD,
  held,
  released,
  JOIN_HASH,
  KEY,
  OTHER_KEY,
  invited,
  joined,
  REVOKED,
  revoked,
  clientRevoked,
  clientEnrolled,
  given,
  givenLater,
  givenClient,
} = testing;

/** An order as the handler gets it, which takes the proof for good: whoever asks it has verified it. */
export const BY_ANNA = {
  by: ANNA,
  proof: {
    key: `U${'A'.repeat(55)}`,
    at: at(0),
    signature: 'AA',
    subject: 'orrery.query.registry.hold',
    body: {},
  },
};
