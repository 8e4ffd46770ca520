import { mutant, type Mutant } from './mutant.js';

const SESSION = 'libs/aip/session/session.ts';
const SEQUENCE = 'libs/aip/frames/sequence.ts';
const MIDDLEWARE = 'libs/aip/frames/middleware.ts';
const TABLE = 'libs/aip/commands/command-table.ts';
const LIMITS = 'proto/aip/limits.ts';
const CLIENT = 'proto/aip/client-messages.ts';
const FRAMES = 'proto/aip/frames.ts';
const CONNECTION = 'services/aip-gateway/devices/device-connection.gateway.ts';
const DESK = 'services/aip-gateway/devices/command-desk.consumer.ts';
const FILES = 'services/aip-gateway/files/file-desk.adapter.ts';
const RECEIVER = 'libs/aip/files/file-receiver.ts';

const NUMBERING: readonly Mutant[] = [
  mutant(
    'numbers skip',
    SEQUENCE,
    ['const seq = ++this.#sent;', 'const seq = (this.#sent += 2);'],
    ['r2.server-numbers'],
  ),
  mutant(
    'nothing is acknowledged',
    SEQUENCE,
    ['return { ...message, seq, ack: this.#taken };', 'return { ...message, seq, ack: 0 };'],
    ['r2.server-acknowledges'],
  ),
  mutant(
    'silence is not acknowledged',
    LIMITS,
    ['ackAfterMs: 200', 'ackAfterMs: 200_000'],
    ['r2.acknowledges-silence'],
  ),
  mutant(
    'many frames are acknowledged late',
    LIMITS,
    ['ackEveryFrames: 16', 'ackEveryFrames: 1_600'],
    ['r2.acknowledges-silence'],
  ),
  mutant(
    'acknowledgements are acknowledged',
    SEQUENCE,
    ["if (type !== 'ack' && this.#owed++ === 0)", 'if (this.#owed++ === 0)'],
    ['r2.acknowledgements-end'],
  ),
  mutant(
    'a frame may come twice',
    SEQUENCE,
    [
      "if (seq <= this.#taken) return { kind: 'duplicate' };",
      "if (seq <= this.#taken) return { kind: 'fresh', latencyMs: undefined };",
    ],
    ['r2.duplicate'],
  ),
  mutant(
    'numbers may be left out',
    SEQUENCE,
    ['if (seq !== this.#taken + 1) return gap(', 'if (seq < 0) return gap('],
    ['r2.gap', 'r2.number-before-resume'],
  ),
  mutant(
    'frames need no number',
    SEQUENCE,
    [
      "if (typeof seq !== 'number') return gap(",
      "if (typeof seq !== 'number') return { kind: 'duplicate' };\n    if (seq < 0) return gap(",
    ],
    ['r2.no-number'],
  ),
  mutant(
    'anything may be acknowledged',
    SEQUENCE,
    ["if (typeof ack === 'number' && ack > this.#sent) {", "if (typeof ack === 'number' && ack < 0) {"],
    ['r2.ack-of-the-future'],
  ),
  mutant(
    'what cannot be read has no number',
    MIDDLEWARE,
    ["if (input.kind === 'unreadable') sequence.skip(nowMs);", ''],
    ['r2.wrong-frame-counts'],
  ),
  mutant(
    'nobody has to acknowledge',
    LIMITS,
    ['unackedMsMax: 45_000', 'unackedMsMax: 4_500_000'],
    ['r2.never-acknowledges'],
  ),
];

const RESUMING: readonly Mutant[] = [
  mutant(
    'revision 1 is confirmed',
    SESSION,
    ['const revision = client.revision ?? 1;', 'const revision = 1;'],
    ['r2.confirmed'],
  ),
  mutant(
    'any revision is spoken',
    'libs/aip/session/telemetry.ts',
    ['revision: Math.min(revision, revisionMax)', 'revision'],
    ['r2.later-revision'],
  ),
  mutant(
    'revision 1 has to resume',
    SESSION,
    ['if (revision < NUMBERED_SINCE) {', 'if (revision < 1) {'],
    ['r2.revision-1'],
  ),
  mutant(
    'RESUME with known fields only',
    FRAMES,
    ['z.object({ type', "(type === 'resume' ? z.strictObject : z.object)({ type"],
    ['r2.fields-of-a-later-revision'],
  ),
  mutant(
    'RESUME is answered with HEARTBEAT',
    SESSION,
    ["{ type: 'resumed', status: 'ok' }", "{ type: 'heartbeat', status: 'ok' }"],
    ['r2.resumed'],
  ),
  mutant(
    'the first part of RESUME is the last',
    SESSION,
    ['if (more) return [next, [resume]];', ''],
    ['r2.resume-in-parts'],
  ),
  mutant(
    'RESUME of any length',
    CLIENT,
    ['running: z.array(CommandId).max(1_000)', 'running: z.array(CommandId)'],
    ['r2.resume-too-long'],
  ),
  mutant('nobody has to resume', LIMITS, ['resumeWithinMs: 5_000', 'resumeWithinMs: 500_000'], ['r2.no-resume']),
  mutant(
    'the desk opens before RESUME',
    CONNECTION,
    [
      "this.#endpoint.input({ kind: 'claimed', sessionId: session.sessionId });",
      "void this.#open();\n      this.#endpoint.input({ kind: 'claimed', sessionId: session.sessionId });",
    ],
    ['r2.no-command-before-resumed'],
  ),
  mutant(
    'what runs is forgotten',
    CONNECTION,
    ['resume: ({ running }) => this.#desk?.takeOver(running)', 'resume: () => undefined'],
    ['r2.running-is-not-sent-again'],
  ),
  mutant(
    'results from before are thrown away',
    TABLE,
    ['this.#keep(commandId, { text: JSON.stringify(outcome), digest: null, notAfterMs: -Infinity, bytes });', ''],
    ['r2.finished-is-delivered'],
  ),
  mutant(
    'nobody is asked about a result',
    LIMITS,
    ['unclaimedMs: 5_000', 'unclaimedMs: 500_000'],
    ['r2.unclaimed-result'],
  ),
];

const WORK: readonly Mutant[] = [
  mutant('stops are forgotten', TABLE, ['this.#stopped.add(keyOf(attempt));', ''], ['r2.stop-refuses-later']),
  mutant(
    'nobody is told that a result is stored',
    TABLE,
    ["return this.#foreign ? [] : [{ kind: 'stored', commandId }];", 'return [];'],
    ['r2.result-stored'],
  ),
  mutant(
    'output goes nowhere',
    DESK,
    ['isGiven && this.#output.publish(commandId, piece)', 'isGiven && commandId === undefined'],
    ['r2.output'],
  ),
  mutant(
    'output of anything',
    DESK,
    ['isGiven && this.#output.publish(', '(isGiven || true) && this.#output.publish('],
    ['r2.output-of-nothing'],
  ),
  mutant(
    'output in pieces of any length',
    SESSION,
    ['piece.text.length > AIP_LIMITS.outputChunkCharsMax', 'piece.text.length > 1e9'],
    ['r2.output-too-long'],
  ),
  mutant(
    'any figures',
    'proto/agent-profile.ts',
    ['load1: z.number().min(0).max(1e6)', 'load1: z.number()'],
    ['r2.metrics'],
  ),
  mutant(
    'a wrong credential is the end',
    SESSION,
    [
      'if (identity === null) return sendAnswer(asked, errorMessage(error), nowMs);',
      "if (identity === null) return leave(AIP_CLOSE.policy, 'no credential');",
    ],
    ['r2.wrong-credential'],
  ),
  mutant(
    'anybody’s credential will do',
    SESSION,
    ["if (identity.id !== session.identity || identity.role !== 'device') {", "if (identity.role !== 'device') {"],
    ['r2.credential-of-another'],
  ),
  mutant(
    'credentials never expire',
    SESSION,
    ['if (credentialUntilMs !== null && credentialUntilMs <= nowMs) {', 'if (credentialUntilMs === 0) {'],
    ['r2.credential-expires'],
  ),
  mutant(
    'a renewed credential is forgotten',
    SESSION,
    ['const renewed = { ...asked, credentialUntilMs };', 'const renewed = asked;'],
    ['r2.credential-renewed'],
  ),
];

const FILE_TRANSFER: readonly Mutant[] = [
  {
    name: 'files for any command',
    edits: [
      {
        file: FILES,
        text: 'if (this.#options.device.openCommand(commandId) === undefined) return NOT_OPEN;',
        becomes: '',
      },
      // What is begun by mistake would be ended in a moment, and on a busy machine before anything was said of it.
      { file: FILES, text: 'else this.#cancel(entry, COMMAND_ENDED);', becomes: 'else entry.transfer?.tick();' },
    ],
    finds: ['file.begin-without-command'],
  },
  mutant(
    'refusals of files are not told',
    FILES,
    ['this.#send(abortFrame(id, failure));', 'void failure;'],
    ['file.request-without-command', 'file.chunk-of-nothing', 'file.too-large'],
  ),
  mutant(
    'any artifact for any command',
    FILES,
    ['return names(command.arguments, sha256) ? undefined : NOT_NAMED;', 'return undefined;'],
    ['file.request-of-another'],
  ),
  mutant(
    'no artifact for any command',
    FILES,
    ['return names(command.arguments, sha256) ? undefined : NOT_NAMED;', 'return NOT_NAMED;'],
    ['file.download'],
  ),
  mutant(
    'FILE_ABORT is answered with FILE_ABORT',
    FILES,
    ["if (message.type === 'file_abort' || this.#ended.has(id)) return;", 'if (this.#ended.has(id)) return;'],
    ['file.abort-of-nothing'],
  ),
  {
    name: 'any file is the one that was announced',
    edits: [
      { file: RECEIVER, text: 'if (sha256 !== receiver.sha256) {', becomes: "if (sha256 === '') {" },
      {
        file: 'libs/messaging/artifacts/artifact-upload.adapter.ts',
        text: 'this.#written !== bytes || found !== sha256) {',
        becomes: 'this.#written !== bytes) {',
      },
    ],
    finds: ['file.wrong-checksum'],
  },
  mutant(
    'pieces may come anywhere',
    RECEIVER,
    ['if (offset !== received) {', 'if (offset < 0) {'],
    ['file.wrong-offset'],
  ),
  mutant(
    'more than was announced',
    RECEIVER,
    ['if (next > bytes) return giveUp(', 'if (next < 0) return giveUp('],
    ['file.too-much'],
  ),
  mutant('files of any size', FILES, ['?? this.#tooMuch(commandId, bytes)', ''], ['file.too-large']),
  mutant('nobody is told that a file is stored', FILES, ['tellsStored: true', 'tellsStored: false'], ['file.upload']),
];

/** What only a server of our revision does. */
export const REVISION_2_MUTANTS: readonly Mutant[] = [...NUMBERING, ...RESUMING, ...WORK, ...FILE_TRANSFER];
