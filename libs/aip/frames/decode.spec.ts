import { describe, expect, it } from '@jest/globals';
import { AIP_LIMITS } from '#proto';
import { decodeClientMessage, decodeServerMessage, tooMuchOf } from './decode.js';

const nested = (depth: number) => `${'['.repeat(depth)}1${']'.repeat(depth)}`;
const results = (result: string) =>
  `{"type":"command_results","status":"ok","prev_response_id":"c","action_results":[{"status":"success","result":${result}}]}`;

describe('decodeClientMessage', () => {
  it('reads a frame with every optional field null and fields we do not know', () => {
    const frame = {
      type: 'heartbeat',
      status: 'ok',
      client_id: null,
      timestamp: null,
      request_id: null,
      foo: { bar: 1 },
    };
    expect(decodeClientMessage(JSON.stringify(frame))).toMatchObject({
      ok: true,
      message: { type: 'heartbeat', client_type: 'device' },
    });
  });

  it.each([
    ['a binary frame', null],
    ['nothing', ''],
    ['half of a frame', '{"type":"heartbeat"'],
    ['a number', '1'],
    ['null', 'null'],
    ['an unknown type', '{"type":"device_info_push","status":"ok"}'],
    ['no type', '{"status":"ok"}'],
    ['no status', '{"type":"heartbeat"}'],
    ['NaN', results('NaN')],
    ['a number that is none', results('1e400')],
    ['another role', '{"type":"register","status":"ok","client_type":"robot","client_id":"x"}'],
    [
      'an id with a wildcard',
      '{"type":"command_progress","status":"ok","orrery":{"command_id":"a.*","state":"running"}}',
    ],
    ['a bottomless frame', '['.repeat(100_000)],
    ['a frame that is nested too deeply', results(nested(AIP_LIMITS.jsonDepthMax))],
    ['a frame of many empty objects', results(`[${'{},'.repeat(AIP_LIMITS.jsonValuesMax)}0]`)],
  ])('says what is wrong with %s, without repeating it', (_, frame) => {
    const decoded = decodeClientMessage(frame);
    expect(decoded).toEqual({ ok: false, error: expect.any(String) });
    expect(JSON.stringify(decoded).length).toBeLessThan(600);
  });

  it('does not let a key reach the prototype', () => {
    const decoded = decodeClientMessage(results('{"__proto__":{"admin":true},"constructor":{"a":1}}'));
    expect(decoded.ok).toBe(true);
    expect(({} as { admin?: boolean }).admin).toBeUndefined();
  });

  it('replaces half a character, which nobody could store or hash', () => {
    expect(decodeClientMessage(results('{"\\ud800k":["a\\udc00b","\\ud83d\\ude00"]}'))).toMatchObject({
      message: { action_results: [{ result: { '\ufffdk': ['a\ufffdb', '😀'] } }] },
    });
  });
});

describe('decodeServerMessage', () => {
  it('reads what a foreign server sends', () => {
    const frame = { type: 'command', status: 'continue', agent_name: 'LinuxAgent', actions: [], result: null };
    expect(decodeServerMessage(JSON.stringify(frame))).toMatchObject({ ok: true, message: { actions: [] } });
  });
});

describe('tooMuchOf', () => {
  const limits = { ...AIP_LIMITS, jsonDepthMax: 4, jsonValuesMax: 6 };
  const [deep, many] = ['nested deeper than 4 levels', 'more than 6 objects, arrays and keys'];

  it.each([
    ['exactly as deep', nested(4), undefined],
    ['one deeper', nested(5), deep],
    ['brackets in a string', '"[[[[[[[["', undefined],
    ['an escaped quote before brackets', '"\\"[[[[[["', undefined],
    ['a backslash before the closing quote', '["\\\\",[[[[1]]]]]', deep],
    ['exactly as many', '[[],[],[],[],[1,2,3]]', undefined],
    ['one more', '[[],[],[],[],[],[]]', many],
    ['keys as much as brackets', '{"a":{"b":{"c":1}}}', undefined],
    ['one key more', '{"a":{"b":{"c":1}},"d":1}', many],
    ['colons in a string', '["::::::::"]', undefined],
  ])('counts %s', (_, text, says) => expect(tooMuchOf(text, limits)).toBe(says));
});
