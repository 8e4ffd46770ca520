/** A browser with cookies and nothing else: it goes where it is sent. */
export class Browser {
  /** By origin, then by name. */
  readonly #cookies = new Map<string, Map<string, string>>();
  /** Where it has been, the last one last. */
  readonly visited: string[] = [];

  /** What it would send there. */
  cookies(url: string): Map<string, string> {
    const { origin } = new URL(url);
    const known = this.#cookies.get(origin) ?? new Map<string, string>();
    this.#cookies.set(origin, known);
    return known;
  }

  /** One request, without following where it leads. */
  async ask(url: string, init: RequestInit = {}): Promise<Response> {
    this.visited.push(url);
    const cookies = this.cookies(url);
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { ...(cookie === '' ? {} : { cookie }), ...(init.headers as Record<string, string> | undefined) };
    const response = await fetch(url, { ...init, headers, redirect: 'manual' });
    for (const line of response.headers.getSetCookie()) {
      const [pair = ''] = line.split(';');
      const at = pair.indexOf('=');
      if (/max-age=0|1970/iu.test(line)) cookies.delete(pair.slice(0, at));
      else cookies.set(pair.slice(0, at), pair.slice(at + 1));
    }
    return response;
  }

  /** Follows to the end, or to where `until` says that it has to stop. */
  async go(url: string, until: (next: string) => boolean = () => false): Promise<Response> {
    let at = url;
    for (;;) {
      const response = await this.ask(at);
      const next = response.headers.get('location');
      if (next === null) return response;
      at = new URL(next, at).href;
      if (until(at)) return response;
    }
  }
}
