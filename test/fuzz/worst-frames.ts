import { Dice } from '../simulation/random.js';
import { DEVICE_SERVER } from './device-server.target.js';
import { cpuMsSince } from './fuzz-case.js';
import { AIP_LIMITS } from '#proto';

/** A frame that is as large as a client may send it, and made to cost as much as it can. */
export interface WorstFrame {
  readonly name: string;
  readonly text: string;
}

const RESULT =
  '{"type":"command_results","status":"ok","prev_response_id":"x","action_results":[{"status":"success","result":?}]}';
const REGISTER =
  '{"type":"register","status":"ok","metadata":{"orrery":{"revision":2,"journal_id":"j","telemetry":{"platform":"l",?}}}}';
const INFO = '{"type":"register","status":"ok","client_id":"dev-1","metadata":{"system_info":?}}';

/** Repeats the unit inside of the shell, up to the size. */
function full(shell: string, [open, unit, close]: readonly [string, string, string], bytesMax: number): string {
  const room = bytesMax - Buffer.byteLength(shell) - Buffer.byteLength(open) - Buffer.byteLength(close);
  const inside = open + unit.repeat(Math.floor(room / Buffer.byteLength(unit))) + close;
  return shell.replace('?', () => inside);
}

const keys = (bytesMax: number): string => {
  const count = Math.floor((bytesMax - 200) / 13);
  return Array.from({ length: count }, (_, index) => `"k${index.toString(36).padStart(6, '0')}":0`).join(',');
};

/** Each costs something else: parsing, checking, walking, copying, naming what is wrong. */
export function worstFrames(bytesMax: number): WorstFrame[] {
  return [
    { name: 'one long text', text: full(RESULT, ['"', 'x', '"'], bytesMax) },
    { name: 'escapes', text: full(RESULT, ['"', '\\u0041', '"'], bytesMax) },
    { name: 'half characters', text: full(RESULT, ['[', '"\\ud800",', '0]'], bytesMax) },
    { name: 'numbers', text: full(RESULT, ['[', '0,', '0]'], bytesMax) },
    { name: 'long numbers', text: full(RESULT, ['[', '0.1234567890123456789e-7,', '0]'], bytesMax) },
    { name: 'empty objects', text: full(RESULT, ['[', '{},', '0]'], bytesMax) },
    { name: 'empty arrays', text: full(RESULT, ['[', '[],', '0]'], bytesMax) },
    { name: 'nested arrays', text: full(RESULT, ['[', `${'['.repeat(40)}${']'.repeat(40)},`, '0]'], bytesMax) },
    { name: 'different keys', text: RESULT.replace('?', () => `{${keys(bytesMax)}}`) },
    { name: 'the same key', text: full(RESULT, ['{', '"k":0,', '"k":0}'], bytesMax) },
    { name: 'facts of a machine', text: INFO.replace('?', () => `{${keys(bytesMax)}}`) },
    { name: 'unknown fields', text: REGISTER.replace('?', () => keys(bytesMax)) },
    { name: 'wrong tools', text: full(REGISTER, ['"tools":[', '{},', '{}]'], bytesMax) },
    {
      name: 'too many results',
      text: full(RESULT.replace('}]}', '}?]}').replace(':?', ':0'), [',', '{"status":"x"},', '{}'], bytesMax),
    },
    { name: 'open brackets', text: '['.repeat(bytesMax) },
    { name: 'open brackets to the depth', text: full('?', ['', `${'['.repeat(60)}${']'.repeat(60)},`, ''], bytesMax) },
    { name: 'quotes', text: '"'.repeat(bytesMax) },
    { name: 'backslashes', text: full(RESULT, ['"', '\\\\', '"'], bytesMax) },
    { name: 'white space', text: full('?', ['', ' ', '{}'], bytesMax) },
  ];
}

/** Of our own clients and of those of other systems. */
export const SIZES = {
  'from a device of ours': AIP_LIMITS.frameBytesMax,
  foreign: AIP_LIMITS.foreignFrameBytesMax,
} as const;

export interface WorstCost {
  readonly size: string;
  readonly name: string;
  readonly outcome: string;
  readonly ms: number;
}

/** The first time includes compiling what reads it. */
const TIMES = 3;

/** How long each of the worst frames keeps a server busy, in both sizes: at best, or once it is less than would do. */
export function worstCosts(msEnough = 0): WorstCost[] {
  return Object.entries(SIZES).flatMap(([size, bytes]) =>
    worstFrames(bytes).map(({ name, text }) => ({ size, name, ...costOf(text, msEnough) })),
  );
}

function costOf(text: string, msEnough: number): { readonly ms: number; readonly outcome: string } {
  const stage = text.includes('"register"') ? 'AWAITING_REGISTER' : 'READY foreign';
  let [ms, outcome] = [Infinity, ''];
  for (let time = 0; time < TIMES && ms >= msEnough; time++) {
    const subject = DEVICE_SERVER.open(stage, new Dice(time));
    const began = process.threadCpuUsage();
    ({ outcome } = subject.receive({ text }));
    // The subject decodes it once more, to know what to expect.
    ms = Math.min(ms, cpuMsSince(began) / 2);
  }
  return { ms, outcome };
}
