/** What is used of noVNC, which has no types of its own. */
declare module '@novnc/novnc' {
  /** A viewer in `target` that speaks through a socket that it is given. */
  class RFB extends EventTarget {
    constructor(target: HTMLElement, channel: WebSocket, options?: { readonly shared?: boolean });
    /** Keys and mouse stay here. */
    viewOnly: boolean;
    /** As large as there is room. */
    scaleViewport: boolean;
    background: string;
    disconnect(): void;
  }
  export { RFB as default };
}
