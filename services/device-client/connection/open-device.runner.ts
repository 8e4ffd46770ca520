import { randomUUID } from 'node:crypto';
import { homedir } from 'node:os';
import type { Logger } from 'pino';
import {
  connectWs,
  DeviceClientEndpoint,
  livenessPolicy,
  RECONNECT,
  type LinkedDevice,
  type LinkFact,
} from '#libs/aip';
import { NO_WALL, type ClientMessage, type CommandCall } from '#proto';
import { CommandGate, type JudgedOrder } from '../policy/index.js';
import {
  CommandHandler,
  DeviceRequests,
  ForeignCommandHandler,
  JournalFile,
  RunEnds,
  heartbeatMessage,
  registerMessage,
  type DeviceFacts,
} from '../commands/index.js';
import type { CredentialSource, ClientTls } from '../identity/index.js';
import { type DeviceConfig, platformFor, toolServersOf } from '../settings/index.js';
import { deviceFiles } from '../files/index.js';
import type { ExecSettings } from '../exec/index.js';
import { describeMachine, findHardware, MachineMetrics } from '../machine/index.js';
import { desktopServer, mobileServer, ownServer, Toolbox } from '../tools/index.js';
import { SANDBOXES, viewsBehind } from '../sandbox/index.js';
import type { SecretStore } from '../secrets/index.js';
import type { StatusBoard } from '../status/index.js';
import { Workspaces, WorkspaceTools } from '../workspaces/index.js';

export interface OpenDeviceOptions {
  /** WebSocket addresses of servers, in the order in which they are tried. */
  readonly urls: readonly string[];
  /** For wss. */
  readonly tls: () => Promise<ClientTls>;
  readonly credentials: CredentialSource;
  readonly clientId: string | null;
  readonly dataDir: string;
  /** How commands are run, and where. */
  readonly exec: ExecSettings;
  readonly secrets: SecretStore | undefined;
  /** The text of the local policy file. */
  readonly localPolicy: string | undefined;
  readonly config: DeviceConfig;
  /** What is said of the client itself: to servers, and to people on this machine. */
  readonly release: string;
  readonly board: StatusBoard;
  readonly logger: Logger;
  /** The journal cannot be written: the client has to end. */
  readonly onFatal: (error: unknown) => void;
}

export interface OpenDevice {
  readonly endpoint: DeviceClientEndpoint;
  readonly commands: CommandHandler;
  readonly foreign: ForeignCommandHandler;
  readonly metrics: MachineMetrics;
  /** Ends the tools and closes the journal. */
  readonly close: () => Promise<void>;
}

const COMPLAINT_CHARS_MAX = 500;
/** The revision since which a server knows what metrics and renewed credentials are. */
const METRICS_SINCE = 2;

/** Opens the journal, starts the tools and puts the parts together; nothing is dialled yet. */
export async function openDevice(options: OpenDeviceOptions): Promise<OpenDevice> {
  const { dataDir, exec, secrets, localPolicy, config, credentials, clientId, logger, onFatal } = options;
  const [now, monotonicMs, random] = [() => Date.now(), () => performance.now(), () => Math.random()];
  // The parts know each other only through these closures, none of which is called before `endpoint.run`.
  const send = (message: ClientMessage): void => endpoint.send(message);
  const metrics = new MachineMetrics({ dataDir, monotonicMs });
  const hardware = await findHardware({ dataDir });
  const { sandbox } = exec;
  const views = sandbox === null ? [] : viewsBehind(sandbox);
  const facts = (): DeviceFacts => ({
    clientId,
    platform: platformFor(config, process.platform),
    machine: describeMachine(),
    tools: tools.telemetry(),
    metrics: metrics.current(),
    release: options.release,
    hardware,
    wall: {
      kind: sandbox?.kind ?? NO_WALL,
      views,
      ...(sandbox !== null && { runsAs: `${sandbox.user.uid}` }),
    },
    now: now(),
  });
  const device: LinkedDevice = {
    register: () => registerMessage({ ...facts(), journalId: file.journal.journalId }),
    holdings: () => commands.holdings(),
    nextResult: () => commands.nextResult(),
    heartbeat: ({ revision }) =>
      heartbeatMessage(clientId, (revision ?? 0) >= METRICS_SINCE ? metrics.current() : null, now()),
    onReady: (server) => {
      requests.onReady(server);
      if ((server.revision ?? 0) >= METRICS_SINCE) credentials.connected((credential) => tell(send, credential));
      process.send?.({ ready: true });
    },
    onMessage: (message, server) => requests.onMessage(message, server),
    onDisconnected: (server) => requests.onDisconnected(server),
  };
  const endpoint = endpointOf(options, { device, monotonicMs, random });
  const { jailDir } = exec;
  const { builtIn, settle, settleFiles, link, stdin } = deviceFiles({
    dataDir,
    jailDir,
    config,
    secrets,
    send,
    now,
    monotonicMs,
    random,
    logger,
  });
  const { desktop, mobile } = config.tools;
  const screens = [
    ...(desktop === undefined ? [] : [desktopServer(desktop)]),
    ...(mobile === undefined ? [] : [mobileServer(mobile)]),
  ];
  const servers = [ownServer(exec), ...screens, ...toolServersOf(config, process.env)];
  const onChange = (): void => endpoint.registerAgain('the tools of this device changed');
  const tools = new Toolbox({ servers, builtIn, settle, settleFiles, secrets, logger, monotonicMs, onChange });
  const owner = sandbox?.user.isOther === true ? sandbox.user : (exec.runAs ?? undefined);
  const [file, workspaces] = await Promise.all([
    JournalFile.open(dataDir),
    Workspaces.open({ dataDir, owner, now, logger }),
    tools.start(),
    metrics.refresh(),
    stdin.clear(),
  ]);
  const { journal, tornBytes } = file;
  const { kind: madeBy } = facts().wall;
  logger.info(
    { journalId: journal.journalId, tornBytes, tools: tools.telemetry().length, wall: madeBy },
    'journal opened',
  );
  const { commandsMax } = config;
  const disconnectGraceMs = config.onDisconnect === 'kill' ? config.disconnectGraceMs : null;
  const sendOutput = (message: ClientMessage): void => void endpoint.sendOutput(message);
  const sendResults = (): void => endpoint.sendResults();
  const saying = { send, sendOutput, sendResults, now, monotonicMs, logger };
  const own = { dataDir, secretsDir: exec.secretsDir };
  const home = sandbox?.user.isOther === true ? sandbox.user.home : (exec.runAs?.home ?? homedir());
  const gate = new CommandGate({
    localPolicy,
    secrets,
    own,
    applications: Object.keys(desktop?.applications ?? {}),
    starts: { directory: jailDir, home, writable: sandbox?.writable ?? [], ownHome: exec.runAs?.home ?? homedir() },
    views: sandbox === null ? undefined : views,
    logger,
  });
  const wall = sandbox && {
    of: (call: CommandCall, judged: JudgedOrder | undefined, workspace: string | undefined) =>
      gate.wallOf(call, judged, workspace),
    hasFilter: SANDBOXES[sandbox.kind].hasFilter(sandbox),
    jailDir,
  };
  const commands = new CommandHandler({
    file,
    tools,
    gate,
    wall: wall ?? undefined,
    stdin,
    workspaces,
    mover: new WorkspaceTools({ link, workspaces, secrets }),
    ...saying,
    onFatal,
    commandsMax,
    disconnectGraceMs,
  });
  options.board.commands = () => commands.list();
  const sign = () => ({ clientId, requestId: randomUUID(), now: now() });
  const foreign = new ForeignCommandHandler({ tools, gate, send, sign, logger });
  const runEnds = new RunEnds({ file, commands, workspaces, send, now, logger, onFatal });
  await runEnds.clear();
  const requests = new DeviceRequests({ commands, runEnds, foreign, files: link, send, sign, facts });
  const close = async (): Promise<void> => {
    await tools.close();
    await file.close();
  };
  return { endpoint, commands, foreign, metrics, close };
}

interface Behind {
  readonly device: LinkedDevice;
  readonly monotonicMs: () => number;
  readonly random: () => number;
}

function endpointOf(
  { urls, credentials, config, logger, tls, board }: OpenDeviceOptions,
  behind: Behind,
): DeviceClientEndpoint {
  const liveness = livenessPolicy(config.deadAfterMs);
  return new DeviceClientEndpoint({
    ...behind,
    urls,
    credentials,
    credentialIn: config.credentialIn,
    onFact: (fact) => (board.note(fact), logFact(logger, fact)),
    policy: { ...RECONNECT, msMax: config.reconnectMsMax },
    connect: async (target) => connectWs({ ...target, liveness, tls: await tls() }),
  });
}

/** A renewed credential, for the connection that is open. */
function tell(send: (message: ClientMessage) => void, credential: string): void {
  send({ type: 'credential', status: 'ok', client_type: 'device', orrery: { credential } });
}

function logFact(logger: Logger, fact: LinkFact): void {
  switch (fact.fact) {
    case 'registered':
      return logger.info(fact, 'registered');
    case 'not-connected':
      return logger.warn(fact, 'not connected');
    case 'disconnected':
      return logger.warn(fact, 'disconnected');
    case 'waiting':
      return logger.info(fact, 'will connect again');
    case 'complaint':
      return logger.warn({ error: fact.error.slice(0, COMPLAINT_CHARS_MAX) }, 'the server complains');
    case 'ignored':
      return logger.debug(fact, 'frame ignored');
  }
}
