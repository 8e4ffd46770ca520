import { describe, expect, it } from '@jest/globals';
import type { Json } from '#proto';
import { isUncut, screenAnswer } from './foreign-screen.js';

const part = (blob: string) => ({ type: 'resource', resource: { uri: 'x:1', mimeType: 'image/png', blob } });

const image: Json = { type: 'image', mimeType: 'image/png', data: 'QUJD' };
const text = (words: string): Json => ({ type: 'text', text: words });

describe('what a tool of a screen answers to a server of UFO', () => {
  const control: Json = { kind: 'control', id: '1', name: 'Save', type: 'Button', rect: [0, 0, 1, 1] };

  it.each<[what: string, tool: string, value: Json, told: Json]>([
    ['a list is a list', 'get_app_window_controls_target_info', { result: [control], listing: 'a.1' }, [control]],
    ['a list of nothing is a list', 'get_desktop_app_target_info', { result: [], listing: 'a.1' }, []],
    ['what was done is a text', 'set_edit_text', { result: 'set', changed: false, settled: true }, 'set'],
    ['a window is as it is', 'select_application_window', { root_name: 'x' }, { root_name: 'x' }],
    ['a tool of nobody’s screen is left alone', 'SYS_INFO', { result: 1, more: 2 }, { result: 1, more: 2 }],
    ['a text is left alone', 'texts', 'a text', 'a text'],
  ])('%s', (_, tool, value, told) => {
    expect(screenAnswer(tool, { value })).toEqual(told);
  });

  it('a picture is the text of it, the clean one of several', () => {
    const pictures = { pictures: [{ of: 'window' }, { of: 'marked' }] };
    const told = screenAnswer('capture_window_screenshot', { value: pictures, parts: [part('QUJD'), part('REVG')] });
    expect(told).toBe('data:image/png;base64,QUJD');
  });

  it('a picture that does not fit into a frame is not cut to one', () => {
    const picture = screenAnswer('capture_desktop_screenshot', {
      value: { pictures: [] },
      parts: [part('QUJD'.repeat(9))],
    });
    expect([isUncut(picture, 40), isUncut(picture, 400), isUncut('x'.repeat(99), 40)]).toEqual([false, true, true]);
  });

  it.each<[what: string, tool: string, parts: Json[], told: Json | undefined]>([
    ['an image is the text of it', 'capture_window_screenshot', [text('x'), image], 'data:image/png;base64,QUJD'],
    [
      'one that is no PNG stays what it is',
      'capture_window_screenshot',
      [{ ...image, mimeType: 'image/gif' }],
      undefined,
    ],
    ['what is no picture of a screen stays what it is', 'texts', [image], undefined],
  ])('of parts without a structured answer: %s', (_, tool, parts, told) =>
    expect(screenAnswer(tool, { value: parts })).toEqual(told ?? parts),
  );

  it.each<[what: string, parts: Json[], cut: boolean]>([
    ['an image', [image], true],
    ['a sound', [text('x'), { ...image, type: 'audio' }], true],
    ['a file', [part('QUJD')], true],
    ['texts alone, which may be cut', [text('x'.repeat(99))], false],
    ['a list of a tool', [{ data: 'x'.repeat(99) }], false],
  ])('of parts is not cut where it has in it %s', (_, parts, cut) =>
    expect([isUncut(parts, 40), isUncut(parts, 400)]).toEqual([!cut, true]),
  );
});
