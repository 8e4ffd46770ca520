import { CONTROL_TOOLS, type ActionName, type AgentProfile } from '#proto';
import type { ToConfirm } from '../../parts/index.js';
import { askApi } from '../../wire/index.js';
import { words } from '../../words/index.js';
import { deviceState } from './device-state.js';

export interface DeviceAction {
  readonly name: string;
  readonly confirmation: ToConfirm;
}

type May = (action: ActionName) => boolean;

const reasonSaid = (reason: string): { reason?: string } => (reason === '' ? {} : { reason });

const HANDS: ReadonlySet<string> = new Set(CONTROL_TOOLS);

/** Whether agents act on a screen of it. */
const hasScreen = ({ tools }: Pick<AgentProfile, 'tools'>): boolean => tools.some(({ name }) => HANDS.has(name));

/** Who looks at its screen, or knows of one, may have it, and may give it back. */
export function screenActions(device: AgentProfile, may: May): DeviceAction[] {
  const { deviceId, taken } = device;
  const path = { id: deviceId };
  const actions: (DeviceAction | false)[] = [
    may('registry.hold') &&
      taken === undefined &&
      hasScreen(device) && {
        name: words.fleet.takeOver,
        confirmation: {
          title: words.fleet.takeOverTitle(deviceId),
          about: words.fleet.takeOverAbout,
          action: words.fleet.takeOver,
          text: { label: words.action.reason },
          act: async (reason) =>
            void (await askApi('POST /v1/devices/{id}/take-over', { path, body: reasonSaid(reason) })),
        },
      },
    may('registry.release') &&
      taken !== undefined && {
        name: words.fleet.handBack,
        confirmation: {
          title: words.fleet.handBackTitle(deviceId),
          about: words.fleet.handBackAbout,
          action: words.fleet.handBack,
          act: async () => void (await askApi('POST /v1/devices/{id}/hand-back', { path })),
        },
      },
  ];
  return actions.filter((action) => action !== false);
}

/** What who looks may do about one device as it is. `isSeen`: its screen can be looked at, and is taken over there. */
export function deviceActions(device: AgentProfile, may: May, isSeen: boolean): DeviceAction[] {
  const { deviceId, held } = device;
  const path = { id: deviceId };
  const state = deviceState(device);
  const text = { label: words.action.reason };
  const actions: (DeviceAction | false)[] = [
    may('registry.hold') &&
      state === 'connected' && {
        name: words.fleet.hold,
        confirmation: {
          title: words.fleet.holdTitle(deviceId),
          about: words.fleet.holdAbout,
          action: words.fleet.hold,
          text,
          act: async (reason) => void (await askApi('POST /v1/devices/{id}/hold', { path, body: reasonSaid(reason) })),
        },
      },
    may('registry.release') &&
      held !== null &&
      held.screen !== true && {
        name: words.fleet.release,
        confirmation: {
          title: words.fleet.releaseTitle(deviceId),
          about: words.fleet.releaseAbout,
          action: words.fleet.release,
          act: async () => void (await askApi('POST /v1/devices/{id}/release', { path })),
        },
      },
    ...(isSeen ? [] : screenActions(device, may)),
    may('registry.revoke') &&
      state !== 'revoked' && {
        name: words.fleet.revoke,
        confirmation: {
          title: words.fleet.revokeTitle(deviceId),
          about: words.fleet.revokeAbout,
          action: words.fleet.revoke,
          danger: true,
          text: { ...text, required: true },
          act: async (reason) =>
            void (await askApi('POST /v1/devices/{id}/revoke', { path, body: reasonSaid(reason) })),
        },
      },
  ];
  return actions.filter((action) => action !== false);
}

/** The same about all devices at once. */
export function fleetActions(may: May): DeviceAction[] {
  const actions: (DeviceAction | false)[] = [
    may('registry.release') && {
      name: words.fleet.releaseAll,
      confirmation: {
        title: words.fleet.releaseAllTitle,
        about: words.fleet.releaseAllAbout,
        action: words.fleet.releaseAll,
        act: async () => void (await askApi('POST /v1/fleet/release', {})),
      },
    },
    may('registry.hold') && {
      name: words.fleet.holdAll,
      confirmation: {
        title: words.fleet.holdAllTitle,
        about: words.fleet.holdAllAbout,
        action: words.fleet.holdAll,
        danger: true,
        text: { label: words.action.reason },
        act: async (reason) => void (await askApi('POST /v1/fleet/hold', { body: reasonSaid(reason) })),
      },
    },
  ];
  return actions.filter((action) => action !== false);
}
