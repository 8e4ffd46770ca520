import { AdminProfile, DeviceId } from '#proto';

export interface DeviceWish {
  readonly deviceId: DeviceId;
  readonly admin: AdminProfile;
}

/** `web-1:web,eu db-1:db`: the devices to admit, each with its tags. Undefined when it is not written like that. */
export function parseDevices(text: string): DeviceWish[] | undefined {
  const wishes = text
    .split(/\s+/u)
    .filter((word) => word !== '')
    .map(parseDevice);
  const devices = wishes.filter((wish) => wish !== undefined);
  const distinct = new Set(devices.map(({ deviceId }) => deviceId));
  return devices.length === wishes.length && distinct.size === devices.length ? devices : undefined;
}

function parseDevice(word: string): DeviceWish | undefined {
  const [id = '', tags = '', ...more] = word.split(':');
  const deviceId = DeviceId.safeParse(id);
  const admin = AdminProfile.safeParse({ tags: tags.split(',').filter((tag) => tag !== ''), capabilities: [] });
  if (!deviceId.success || !admin.success || more.length > 0) return undefined;
  return { deviceId: deviceId.data, admin: admin.data };
}
