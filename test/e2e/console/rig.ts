import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { query } from '#libs/messaging';
import { ownPort } from '#libs/testing';
import type { Role } from '#proto';
import { CLIENT_ID, CLIENT_SECRET, TestProvider } from '../../../services/console/login/provider.testing.js';
import { StoryModel } from '../agent-model.js';
import { openBrowser } from '../browser.js';
import { PATIENT, TestSystem, until } from '../system.js';
import { StandInVnc } from './stand-in-vnc.js';
import { CONSOLE_STORIES } from './stories.js';

const WINDOW = { width: 1_280, height: 720 };
/** A limit for what hangs, not for what is slow. */
const PAGE_MS_MAX = 120_000;
/**
 * Tasks read one byte of these: each goes on when the test says so. One is for one pause: the next reader of a pipe that is being closed
 * by its writer would read the end of it, and go on by itself.
 */
const GATES = ['words', 'sky', 'output', 'more-output', 'low', 'console', 'nats', 'postgres'] as const;
export type GateName = (typeof GATES)[number];

/** In the page, before anything of it: what its policy has refused is told on the console of the browser. */
const TELL_VIOLATIONS =
  "document.addEventListener('securitypolicyviolation',(e)=>console.error('refused by the policy: '+e.violatedDirective+' '+e.blockedURI))";

/** One system, one browser and an identity provider for all tests of the console. */
export class ConsoleRig {
  readonly base: string;
  readonly system: TestSystem;
  readonly browser: Browser;
  readonly model: StoryModel;
  readonly provider: TestProvider;
  /** Of desk-1, which is enrolled by who needs it. */
  readonly screen: StandInVnc;
  /** What no page may do: ask with a dialog, be refused something by its policy, throw. */
  readonly troubles: string[] = [];
  readonly #closers: readonly Closer[];
  readonly #jail: string;
  /** Of the first person: logged in once. */
  #seat: Page | undefined;
  /** Of somebody who may look: logged in once. */
  #onlooker: Page | undefined;

  private constructor(
    {
      base,
      system,
      browser,
      model,
      provider,
      screen,
    }: Pick<ConsoleRig, 'base' | 'system' | 'browser' | 'model' | 'provider' | 'screen'>,
    closers: readonly Closer[],
  ) {
    this.base = base;
    this.system = system;
    this.browser = browser;
    this.model = model;
    this.provider = provider;
    this.screen = screen;
    this.#jail = jailOf(system.home);
    this.#closers = closers;
  }

  static async start(): Promise<ConsoleRig> {
    const closers: Closer[] = [];
    try {
      const port = await ownPort();
      const base = `http://127.0.0.1:${port}`;
      const model = await StoryModel.start(CONSOLE_STORIES);
      closers.push(() => model.stop());
      const provider = await TestProvider.start(`${base}/login/callback`);
      closers.push(() => provider.stop());
      const screen = new StandInVnc();
      await screen.start();
      closers.push(() => screen.stop());
      const browser = await openBrowser();
      closers.push(() => browser.close());
      const prepare = (home: string) =>
        prepared(home, { port, base, issuer: provider.issuer, screenPort: screen.port });
      const system = await TestSystem.startWith(
        { env: { ...model.env, ORRERY_EXPERIENCE: 'on' }, prepare },
        '--devices',
        '2',
      );
      closers.push(() => system.stop());
      return new ConsoleRig({ base, system, browser, model, provider, screen }, closers);
    } catch (error) {
      await closeAll(closers);
      throw error;
    }
  }

  stop(): Promise<void> {
    return closeAll(this.#closers);
  }

  /** A browser of its own, of somebody who has not logged in. */
  async stranger(options: BrowserContextOptions = {}): Promise<Page> {
    const context = await this.browser.newContext({
      reducedMotion: 'reduce',
      viewport: WINDOW,
      baseURL: this.base,
      ...options,
    });
    context.setDefaultTimeout(PAGE_MS_MAX);
    await this.#watch(context);
    return context.newPage();
  }

  /**
   * The page of the first person, who may do everything. It is the same for all tests, which go on in it as by a link: a browser that
   * begins anew for that costs five times as much, a page that is loaded anew three times. Who leaves what a link does not end loads it.
   */
  async operator(): Promise<Page> {
    return (this.#seat ??= await this.#loggedIn());
  }

  /** A second browser of the first person. */
  async operatorElsewhere(options: BrowserContextOptions = {}): Promise<Page> {
    const seat = await this.operator();
    return this.stranger({ storageState: await seat.context().storageState(), ...options });
  }

  /** The page of a person who may only look, the same for all tests. */
  async viewer(): Promise<Page> {
    return (this.#onlooker ??= await this.person('vera', ['viewer']));
  }

  /** The link that the command line prints. */
  async link(): Promise<string> {
    return (await this.system.json<{ url: string }>('console', '--no-open')).url;
  }

  /** A browser of a person whom the identity provider knows; the first time the person is added. */
  async person(id: string, roles: readonly Role[]): Promise<Page> {
    const bus = await this.system.bus();
    const { issuer } = this.provider;
    const added = { id: randomUUID(), actorId: id, kind: 'person' as const, roles: [...roles] };
    await query(bus, 'registry', 'people-add', added, PATIENT);
    const login = { id: randomUUID(), actorId: id, change: 'bind' as const, issuer, subject: `${id}-1` };
    await query(bus, 'registry', 'people-login', login, PATIENT);
    this.provider.who = `${id}-1`;
    const page = await this.stranger();
    // The console hears of who was added a moment later.
    await until(`${id} to be let in`, async () => {
      await page.goto('/login');
      await page.getByRole('link', { name: /^Log in at/u }).click();
      const unknown = page.getByRole('heading', { name: 'Not known here' });
      await page.getByRole('heading', { name: 'Runs' }).or(unknown).waitFor();
      return (await unknown.isVisible()) ? undefined : true;
    });
    return page;
  }

  /** Lets the task go on that waits there. */
  async open(gate: GateName): Promise<void> {
    await writeFile(join(this.#jail, gate), '.');
  }

  /** Leaves a file on the device, where its commands look. */
  async leave(file: string): Promise<void> {
    await writeFile(join(this.#jail, file), '');
  }

  /** Closes what a test has opened, makes the pages that stay as they were, and says what went wrong in it. */
  async tidy(): Promise<string[]> {
    const kept = [this.#seat, this.#onlooker];
    for (const context of this.browser.contexts()) {
      const page = kept.find((one) => one?.context() === context);
      if (page === undefined) await context.close();
      else await asItWas(page);
    }
    return this.troubles.splice(0);
  }

  async #loggedIn(): Promise<Page> {
    const page = await this.stranger();
    await page.goto(await this.link());
    await page.getByRole('heading', { name: 'Runs' }).waitFor();
    return page;
  }

  async #watch(context: BrowserContext): Promise<void> {
    await context.addInitScript(TELL_VIOLATIONS);
    context.on('dialog', (dialog) => {
      this.troubles.push(`a dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    context.on('weberror', (error) => this.troubles.push(`thrown: ${error.error().message}`));
    context.on('console', (message) => {
      const text = message.text();
      if (message.type() === 'error' && /policy/iu.test(text)) this.troubles.push(text);
    });
  }
}

/** All that tests change of a page and that a load leaves. */
async function asItWas(page: Page): Promise<void> {
  for (const other of page.context().pages()) if (other !== page) await other.close();
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize(WINDOW);
}

type Closer = () => unknown;

async function closeAll(closers: readonly Closer[]): Promise<void> {
  for (const close of closers.toReversed()) await close();
}

/** What lies on the device before its first command, and how people come in. */
async function prepared(
  home: string,
  { port, base, issuer, screenPort }: { port: number; base: string; issuer: string; screenPort: number },
): Promise<NodeJS.ProcessEnv> {
  const secretFile = join(home, 'oidc-client-secret');
  await writeFile(secretFile, CLIENT_SECRET, { mode: 0o600 });
  const screens = join(home, 'screens.json');
  await writeFile(screens, JSON.stringify({ 'desk-1': { host: '127.0.0.1', port: screenPort } }));
  for (const folder of ['old', 'keys']) await mkdir(join(jailOf(home), folder), { recursive: true });
  execFileSync('mkfifo', ['-m', '666', ...GATES.map((gate) => join(jailOf(home), gate))]);
  return {
    ORRERY_CONSOLE_PORT: String(port),
    ORRERY_CONSOLE_URL: base,
    ORRERY_OIDC_ISSUER: issuer,
    ORRERY_OIDC_CLIENT_ID: CLIENT_ID,
    ORRERY_OIDC_CLIENT_SECRET_FILE: secretFile,
    ORRERY_SCREENS_FILE: screens,
  };
}

const jailOf = (home: string): string => join(home, 'devices/web-1/jail');
