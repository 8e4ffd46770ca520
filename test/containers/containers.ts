import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DockerComposeEnvironment } from 'testcontainers';
import { RunView } from '#proto';
import { docker, ROOT, until, type Ran } from './engine.js';

/** Any free ports: a system of the person who runs the tests may have the usual ones. And no model, whatever that system has. */
const SETTINGS = {
  ORRERY_CONSOLE_PORT: '0',
  ORRERY_AIP_PORT: '0',
  ORRERY_NATS_PORT: '0',
  ORRERY_MCP_PORT: '0',
  OPENAI_BASE_URL: '',
  ORRERY_MODEL: '',
  ORRERY_MODEL_FILE: '',
  ORRERY_RUNBOOKS_DIR: '',
  ORRERY_PLAN_APPROVAL: '',
  ORRERY_APPROVALS: '',
  ORRERY_JUDGE: '',
  ORRERY_DEVICE_SANDBOX: '',
};
/** What runs when it is asked for. */
const TOOLS = ['cli', 'people', 'doctor'];
/** Of each container, when the system does not start. */
const LAST_LINES = '20';

/** The container went away before `kill` could say that it was successful. */
const KILLED = 137;

export interface Container {
  readonly Id: string;
  readonly RestartCount: number;
  readonly State: { readonly Status: string; readonly ExitCode: number; readonly Health?: { readonly Status: string } };
  readonly Config: {
    readonly User: string;
    readonly Labels: Readonly<Record<string, string>>;
    readonly Entrypoint: readonly string[] | null;
  };
  readonly HostConfig: {
    readonly Memory: number;
    readonly ReadonlyRootfs: boolean;
    readonly Privileged: boolean;
    readonly CapDrop: readonly string[] | null;
    readonly CapAdd: readonly string[] | null;
    readonly SecurityOpt: readonly string[] | null;
    /** What of /proc and /sys is covered. */
    readonly MaskedPaths: readonly string[] | null;
    readonly Ulimits: readonly unknown[] | null;
    readonly LogConfig: { readonly Config: Readonly<Record<string, string>> };
  };
  readonly NetworkSettings: {
    readonly Ports: Readonly<Record<string, readonly { readonly HostIp: string; readonly HostPort: string }[] | null>>;
  };
}

export interface ContainerOptions {
  /** Of docker-compose.yml, beside what is started without any. */
  readonly profiles?: readonly string[];
  /** What a person would have in `.env`. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** The system of docker-compose.yml under a name of its own, with volumes of its own. */
export class ContainerSystem {
  readonly #project: string;
  readonly #profiles: readonly string[];
  readonly #settings: Readonly<Record<string, string>>;

  private constructor(project: string, { profiles = [], settings = {} }: ContainerOptions) {
    this.#project = project;
    this.#profiles = profiles;
    this.#settings = { ...SETTINGS, ...settings };
  }

  /** Builds the images and waits until everything is healthy. */
  static async start(project: string, options: ContainerOptions = {}): Promise<ContainerSystem> {
    const system = new ContainerSystem(project, options);
    await system.mustCompose(['--profile', 'tools', 'build', '--quiet']);
    try {
      await system.#up();
      return system;
    } catch (error) {
      throw new Error(await system.#whyNot(), { cause: error });
    }
  }

  async #up(): Promise<void> {
    await new DockerComposeEnvironment(ROOT, 'docker-compose.yml')
      .withProjectName(this.#project)
      .withEnvironment({ ...this.#settings })
      .withProfiles(...this.#profiles)
      // Its own cleaner is another image that would have to be fetched; `stop` cleans.
      .withAutoCleanup(false)
      .withClientOptions({ commandOptions: ['--wait'] })
      .up();
  }

  /** Who fails to start is taken down with its log, so it is asked to start once more, and what it says then is the reason. */
  async #whyNot(): Promise<string> {
    try {
      const again = await this.compose(['--progress', 'quiet', 'up', '--detach', '--wait']);
      if (again.code === 0) return 'the containers started at the second try only';
      const { stdout } = await this.compose(['ps', '--all', '--format', '{{.Service}}: {{.Status}}']);
      const logs = await this.compose(['logs', '--no-color', '--tail', LAST_LINES]);
      return `the containers do not start.\n${again.stderr}${stdout}${logs.stdout}`;
    } finally {
      await this.stop();
    }
  }

  compose(args: readonly string[], input = ''): Promise<Ran> {
    const profiles = this.#profiles.flatMap((profile) => ['--profile', profile]);
    return docker(['compose', '--project-name', this.#project, ...profiles, ...args], { input, env: this.#settings });
  }

  async mustCompose(args: readonly string[], input = ''): Promise<string> {
    const { code, stdout, stderr } = await this.compose(args, input);
    if (code === 0) return stdout;
    throw new Error(`docker compose ${args.join(' ')} exited with ${code}: ${stdout}${stderr}`);
  }

  cli(args: readonly string[], input = ''): Promise<Ran> {
    return this.compose(['run', '--rm', '-T', 'cli', ...args], input);
  }

  async containers(): Promise<Map<string, Container>> {
    const ids = (await this.mustCompose(['ps', '--all', '--quiet'])).split('\n').filter((id) => id !== '');
    const { stdout } = await docker(['inspect', ...ids]);
    const all = JSON.parse(stdout) as Container[];
    return new Map(all.map((one) => [one.Config.Labels['com.docker.compose.service'] ?? '', one]));
  }

  async container(service: string): Promise<Container> {
    const found = (await this.containers()).get(service);
    if (found === undefined) throw new Error(`there is no container of ${service}`);
    return found;
  }

  /** SIGKILL to the one process that the container is for; its init ends with it, and the engine starts it again. */
  async kill9(service: string): Promise<void> {
    const user = service === 'postgres' ? ['--user', 'postgres'] : []; // root has no right to kill here
    const kill = ['sh', '-c', 'kill -9 $(cat /proc/1/task/1/children)'];
    const { code, stderr } = await this.compose(['exec', '-T', ...user, service, ...kill]);
    if (code !== 0 && code !== KILLED) throw new Error(`${service} was not killed: ${stderr}`);
  }

  /** As `127.0.0.1:port`. */
  async published(service: string, port: number): Promise<string> {
    return (await this.mustCompose(['port', service, String(port)])).trim();
  }

  /** The last one told is the valid one. */
  async adminToken(): Promise<string> {
    const told = [...(await this.mustCompose(['logs', 'setup'])).matchAll(/shown only now: (\S+)/gu)];
    return told.at(-1)?.[1] ?? '';
  }

  async http(method: string, path: string, { token, body }: { token: string; body?: string }): Promise<Response> {
    return fetch(`http://${await this.published('console', 8080)}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body }),
    });
  }

  /** A request of MCP about a run, as a host on this machine sends it. */
  async mcp(runId: string, method: string, token?: string): Promise<Response> {
    return fetch(`http://${await this.published('planner', 8090)}/mcp/${runId}`, {
      method: 'POST',
      headers: {
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: {} }),
    });
  }

  /** The ended run; while something is being restarted nobody answers, and it is asked again. */
  untilEnd(runId: string, token: string): Promise<RunView> {
    return until(`the end of ${runId}`, async () => {
      const response = await this.http('GET', `/v1/runs/${runId}`, { token });
      if (!response.ok) return undefined;
      const view = RunView.parse(await response.json());
      return view.endedAt === null ? undefined : view;
    });
  }

  /** A file of the volume of secrets, taken as an operator would take it. */
  async secret(path: string): Promise<string> {
    const directory = await mkdtemp(join(tmpdir(), 'orrery-containers-'));
    try {
      const file = join(directory, 'secret');
      await this.mustCompose(['cp', `setup:/secrets/${path}`, file]);
      return (await readFile(file, 'utf8')).trim();
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  }

  /** Sorted. */
  async runIds(): Promise<string[]> {
    const { stdout } = await this.cli(['runs', '--json']);
    return (JSON.parse(stdout) as { runs: { runId: string }[] }).runs.map(({ runId }) => runId).toSorted();
  }

  /** How many lines tasks have written into this file of the device. */
  async effects(file: string): Promise<number> {
    const { stdout } = await this.compose(['exec', '-T', 'web-1', 'cat', `/data/jail/${file}`]);
    return stdout.split('\n').filter((line) => line !== '').length;
  }

  /** What an enemy would try in a command on web-1, behind the wall that its client makes there. */
  async behindWall(kind: 'read' | 'write', command: string): Promise<Ran> {
    const connection = '/app/dist/services/device-client/connection/hardening.runner.js';
    const probe = `
      const { execSettings } = await import('${connection}');
      const { ExecCli } = await import('/app/dist/services/device-client/exec/exec-cli.runner.js');
      const [dataDir, config] = ['/data', { exec: { umask: '022', limits: {}, sandbox: { commands: 'agents', writable: [], hidden: [], network: false } }, files: { paths: [] }, outputBytesMax: 0 }];
      const own = { dataDir, jailDir: '/data/jail', confined: false, secretsDir: null, ownFiles: ['/secrets/token'] };
      const settings = await execSettings({ ...own, runAs: undefined, sandbox: 'bwrap', config });
      const exec = new ExecCli({ settings, env: process.env, now: Date.now });
      const wall = { kind: '${kind}', views: [] };
      const caller = { signal: new AbortController().signal, tell: async () => undefined, isAgents: true, wall };
      const { result } = await exec.runWhole({ command: ${JSON.stringify(command)}, timeout: 30 }, caller);
      process.stdout.write(result.stdout);
      process.stderr.write(result.stderr);
      process.exit(result.exit_code);`;
    return this.compose(['exec', '-T', 'web-1', 'node', '--input-type=module', '-e', probe]);
  }

  async stop(): Promise<void> {
    await this.compose(['--profile', 'tools', 'down', '--volumes', '--rmi', 'local', '--timeout', '5']);
    await docker(['image', 'rm', ...TOOLS.map((tool) => `${this.#project}-${tool}`)]); // "down" leaves what it did not start
  }
}
