import type { Closed, TransportHandlers } from './transport.js';

type Item = { readonly frame: string | null; readonly bytes?: Uint8Array } | { readonly closed: Closed };

/** What has come, in order, for handlers that may come later; held back while something before it is still being read. */
export class FrameInbox {
  #handlers: TransportHandlers | undefined;
  #items: Item[] = [];
  #held = 0;
  #isOver = false;

  handle(handlers: TransportHandlers): void {
    this.#handlers = handlers;
    this.#flush();
  }

  push(item: Item): void {
    this.#items.push(item);
    this.#flush();
  }

  /** Holds back what comes from now on, until the result is given; undefined for none. */
  hold(): (frame: string | undefined) => void {
    this.#held++;
    const later = this.#items;
    this.#items = [];
    return (frame) => {
      this.#held--;
      this.#items = [...later, ...(frame === undefined ? [] : [{ frame }]), ...this.#items];
      this.#flush();
    };
  }

  #flush(): void {
    while (this.#handlers !== undefined && this.#held === 0 && !this.#isOver) {
      const item = this.#items.shift();
      if (item === undefined) return;
      if ('frame' in item) this.#handlers.frame(item.frame, item.bytes);
      else {
        this.#isOver = true;
        this.#handlers.closed(item.closed);
      }
    }
  }
}
