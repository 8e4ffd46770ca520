import { describe, expect, it } from '@jest/globals';
import { isChosen, parseArguments, UsageError } from './arguments.js';

const DEVICE = ['--device-id', 'd1', '--device-token-file', 'key'];

describe('the arguments of the conformance suite', () => {
  it('name a server and who may connect there', () =>
    expect(parseArguments(['--url', 'ws://127.0.0.1:5000/ws', ...DEVICE, '--profile', 'core,strict'])).toMatchObject({
      mode: 'url',
      url: 'ws://127.0.0.1:5000/ws',
      devices: [{ id: 'd1', tokenFile: 'key' }],
      profiles: ['core', 'strict'],
      answerMs: 5_000,
      executes: false,
    }));

  it('may ask for a stand of our own, or for its mutants', () => {
    expect(parseArguments(['--stand', '--check', 'r2.*']).mode).toBe('stand');
    expect(parseArguments(['--mutants']).mode).toBe('mutants');
    expect(parseArguments(['--list']).mode).toBe('list');
  });

  it.each([
    [['--url', 'http://127.0.0.1', ...DEVICE], 'WebSocket address'],
    [['--url', 'ws://127.0.0.1/ws'], '--device-id and --device-token-file'],
    [['--url', 'ws://127.0.0.1/ws', '--device-id', 'd1'], 'belong together'],
    [['--stand', '--mutants'], 'exclude each other'],
    [['--stand', '--profile', 'lenient'], 'there is no profile "lenient"'],
    [['--stand', '--answer-ms', 'soon'], '--answer-ms must be'],
    [['--telepathy'], 'usage:'],
    [[], 'usage:'],
  ])('%p are refused with a sentence', (argv, says) => {
    expect(() => parseArguments(argv)).toThrow(UsageError);
    expect(() => parseArguments(argv)).toThrow(says);
  });

  it('choose checks by name or by the beginning of it', () => {
    expect(isChosen('r2.gap', [])).toBe(true);
    expect(isChosen('r2.gap', ['r2.*'])).toBe(true);
    expect(isChosen('r2.gap', ['r2.gap', 'first.*'])).toBe(true);
    expect(isChosen('r2.gap', ['r2', 'first.*'])).toBe(false);
  });
});
