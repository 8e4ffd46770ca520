import type RFB from '@novnc/novnc';
import { words } from '../../../words/index.js';
import { letGoOnLeaving } from './held-keys.adapter.js';
import { whyEnded, type ViewStanding } from './standing.js';

export interface ViewedScreen {
  /** Where the picture is put. */
  readonly box: HTMLElement;
  readonly deviceId: string;
  /** The id of what tells how to get out of it by keys. */
  readonly wayOut: string;
  readonly hear: (standing: ViewStanding) => void;
}

/** One view of one screen, from opening it to its end. Looks only, until it is told that it may act. */
export class ScreenViewer {
  readonly #of: ViewedScreen;
  #rfb: RFB | undefined;
  #letGo: () => void = () => undefined;
  #mayAct = false;
  #isLive = false;
  #isOver = false;

  constructor(of: ViewedScreen) {
    this.#of = of;
    import('@novnc/novnc').then(
      ({ default: Viewer }) => (this.#isOver ? undefined : this.#open(Viewer)),
      () => this.#end(words.screen.end.notLoaded),
    );
  }

  /** Whether keys and mouse go to the screen. What the server lets pass is its own word. */
  act(mayAct: boolean): void {
    this.#mayAct = mayAct;
    if (this.#rfb !== undefined) this.#show(this.#rfb);
  }

  close(): void {
    this.#isOver = true;
    this.#letGo();
    this.#rfb?.disconnect();
  }

  #open(Viewer: typeof RFB): void {
    const { box, deviceId } = this.#of;
    const address = new URL(`/v1/devices/${encodeURIComponent(deviceId)}/screen`, location.href);
    address.protocol = address.protocol.replace('http', 'ws');
    const socket = new WebSocket(address, 'binary');
    socket.addEventListener('close', ({ code, reason }) =>
      this.#end(whyEnded({ code, reason, wasLive: this.#isLive })),
    );
    const rfb = new Viewer(box, socket, { shared: true });
    this.#rfb = rfb;
    rfb.scaleViewport = true;
    rfb.background = 'transparent';
    rfb.addEventListener('connect', () => {
      this.#isLive = true;
      if (!this.#isOver) this.#of.hear({ phase: 'live' });
    });
    this.#frame();
    this.#show(rfb);
  }

  /** The box has the form of the screen, so that nothing of the page is empty beside it. */
  #frame(): void {
    const canvas = this.#canvas;
    if (canvas === undefined) return;
    const fit = (): void => {
      const { width, height } = canvas;
      if (width > 0 && height > 0) this.#of.box.style.setProperty('--form', String(width / height));
    };
    new MutationObserver(fit).observe(canvas, { attributeFilter: ['width', 'height'] });
    this.#letGo = letGoOnLeaving(canvas);
  }

  #show(rfb: RFB): void {
    const canvas = this.#canvas;
    const { deviceId, wayOut } = this.#of;
    // As long as it still passes.
    if (!this.#mayAct) this.#letGo();
    rfb.viewOnly = !this.#mayAct;
    if (canvas === undefined) return;
    canvas.tabIndex = this.#mayAct ? 0 : -1;
    canvas.role = this.#mayAct ? 'application' : 'img';
    canvas.ariaLabel = this.#mayAct ? words.screen.acting(deviceId) : words.screen.picture(deviceId);
    canvas.setAttribute('aria-describedby', wayOut);
  }

  #end(why: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#of.hear({ phase: 'ended', why });
  }

  get #canvas(): HTMLCanvasElement | undefined {
    return this.#of.box.querySelector('canvas') ?? undefined;
  }
}
