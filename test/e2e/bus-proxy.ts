import { RunCommit, type RunId, subjects } from '#proto';
import { ChaosProxy } from '#libs/testing';

/** A commit that its author has sent and that the server has not been given. */
export interface HeldCommit {
  readonly commit: string;
  readonly runId: RunId;
  /** Its place in the run: the server takes one commit for it, whoever is first. */
  readonly number: number;
}

/** The run, the bytes of the headers, the bytes of headers and body. */
const COMMIT = new RegExp(`HPUB ${subjects.run('([^ .]+)')} (?:[^ \\r]+ )?(\\d+) (\\d+)\\r\\n`, 'gu');

/** Stands between one client and the server, and can keep for itself what the client says. */
export class BusProxy {
  readonly url: string;
  readonly #proxy: ChaosProxy;

  private constructor(proxy: ChaosProxy) {
    this.url = proxy.url;
    this.#proxy = proxy;
  }

  static async start(target: string): Promise<BusProxy> {
    return new BusProxy(await ChaosProxy.start(target));
  }

  /** From now on the server hears nothing from the client; the client hears everything. */
  hold(): void {
    this.#proxy.hold('up');
  }

  /** What the client has written into the log of runs since `hold`. */
  heldCommits(): HeldCommit[] {
    const text = this.#proxy.held('up').toString('latin1');
    return [...text.matchAll(COMMIT)].flatMap(({ 0: line, 1: runId = '', 2: head, 3: whole, index }) => {
      const [begin, end] = [Number(head), Number(whole)].map((bytes) => index + line.length + bytes);
      // The last of them may be on its way to here.
      if (end === undefined || end > text.length) return [];
      const { commit, number } = RunCommit.parse(
        JSON.parse(Buffer.from(text.slice(begin, end), 'latin1').toString('utf8')),
      );
      return [{ runId, commit, number }];
    });
  }

  /** The server hears all of it, in order. */
  release(): void {
    this.#proxy.release('up');
  }

  close(): Promise<void> {
    return this.#proxy.close();
  }
}
