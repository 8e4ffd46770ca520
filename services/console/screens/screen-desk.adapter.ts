import type { Logger } from 'pino';
import type { WebSocket } from 'ws';
import type { DeviceId } from '#proto';
import { peerOf, type AccessDesk } from '../access/index.js';
import type { ConsoleCaller } from '../callers/index.js';
import { mustDo, RefusedError, type CalledRequest, type Door } from '../http/index.js';
import type { RegistryWords } from '../runs/index.js';
import { ScreenView, VIEW_CLOSE } from './screen-view.adapter.js';
import type { ScreenServer } from './screens.config.js';
import { openVncServer, VncServerError } from './vnc-server.client.js';

/** An answer about who has a screen is good for so long: a mouse that is moved asks often. */
const KNOWN_MS = 200;

export interface ScreenDeskParts {
  readonly screens: ReadonlyMap<DeviceId, ScreenServer>;
  readonly door: Pick<Door, 'watch'>;
  readonly desk: Pick<AccessDesk, 'reads'>;
  readonly words: Pick<RegistryWords, 'ask'>;
  readonly logger: Logger;
}

/** Who may look at a screen looks: it is recorded before anything is shown. */
export class ScreenDesk {
  readonly #parts: ScreenDeskParts;
  readonly #open = new Set<ScreenView>();

  constructor(parts: ScreenDeskParts) {
    this.#parts = parts;
  }

  /** The service ends: so do all views. */
  end(): void {
    for (const view of this.#open) view.close(VIEW_CLOSE.over, 'the console stops');
  }

  /** The devices whose screens can be shown. */
  get deviceIds(): readonly DeviceId[] {
    return [...this.#parts.screens.keys()].toSorted();
  }

  /**
   * Resolves when the viewer may be let in, to what shows him the screen, or says why it cannot be seen now: of an upgrade that is refused a
   * browser tells no page anything. Throws RefusedError.
   */
  async admit(deviceId: DeviceId, caller: ConsoleCaller, request: CalledRequest): Promise<(viewer: WebSocket) => void> {
    const { screens, desk, logger } = this.#parts;
    mustDo(caller, 'READ_OUTPUT');
    const screen = screens.get(deviceId);
    if (screen === undefined) throw new RefusedError({ code: 'NOT_FOUND', message: NO_SCREEN(deviceId) }, 404);
    await desk.reads(caller, { what: 'OUTPUT_READ', deviceId }, peerOf(request));
    const server = await openVncServer(screen).catch((err: unknown) => {
      logger.warn({ err, deviceId }, 'the screen of a device is not shown');
      return err instanceof VncServerError ? err.message : 'it cannot be reached';
    });
    if (typeof server === 'string') return (viewer) => viewer.close(VIEW_CLOSE.server, server);
    return (viewer) => {
      const view = new ScreenView({ viewer, server, has: this.#holder(deviceId, caller), logger });
      this.#open.add(view);
      const unwatched = this.#parts.door.watch(request, () => view.close(VIEW_CLOSE.refused, 'the login is over'));
      viewer.once('close', () => {
        unwatched();
        this.#open.delete(view);
      });
    };
  }

  /** Whether the caller has taken the screen over. */
  #holder(deviceId: DeviceId, caller: ConsoleCaller): () => Promise<boolean> {
    let known = { has: false, untilMs: 0 };
    return async () => {
      if (performance.now() < known.untilMs) return known.has;
      const { devices } = await this.#parts.words.ask(caller, 'devices', {});
      const by = devices.find((device) => device.deviceId === deviceId)?.taken?.by;
      known = { has: by?.id === caller.actor.id, untilMs: performance.now() + KNOWN_MS };
      return known.has;
    };
  }
}

const NO_SCREEN = (deviceId: string): string =>
  `The console knows no screen of ${deviceId}: ORRERY_SCREENS_FILE names those that it shows.`;
