import { AdminProfile, DeviceId } from '#proto';

export interface DeviceWish {
  readonly deviceId: DeviceId;
  readonly admin: AdminProfile;
  /** The kind of agent that does its tasks in words; the usual one without it. */
  readonly agent?: string;
}

/** `web-1:web,eu desk-1::DesktopAgent`: the devices to admit, each with its tags and the kind of its agent. Undefined when it is not written like that. */
export function parseDevices(text: string): DeviceWish[] | undefined {
  const wishes = text
    .split(/\s+/u)
    .filter((word) => word !== '')
    .map(parseDevice);
  const devices = wishes.filter((wish) => wish !== undefined);
  const distinct = new Set(devices.map(({ deviceId }) => deviceId));
  return devices.length === wishes.length && distinct.size === devices.length ? devices : undefined;
}

/** Capital, so that a tag in its place is none. */
const AGENT = /^[A-Z]\w{0,63}$/u;

function parseDevice(word: string): DeviceWish | undefined {
  const [id = '', tags = '', agent, ...more] = word.split(':');
  const deviceId = DeviceId.safeParse(id);
  const admin = AdminProfile.safeParse({ tags: tags.split(',').filter((tag) => tag !== ''), capabilities: [] });
  const isAgent = agent === undefined || AGENT.test(agent);
  if (!deviceId.success || !admin.success || !isAgent || more.length > 0) return undefined;
  return { deviceId: deviceId.data, admin: admin.data, ...(agent !== undefined && { agent }) };
}
