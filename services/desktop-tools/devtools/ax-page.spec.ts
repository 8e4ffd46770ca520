import { describe, expect, it } from '@jest/globals';
import { AxNode, axPageOf, isSamePageControl, leadsToServer, PAGE_LIMITS } from './ax-page.js';

type More = Partial<AxNode> & { readonly is?: Record<string, unknown> };
const node = (nodeId: string, role: string, name = '', { is = {}, ...more }: More = {}): AxNode => ({
  nodeId,
  ignored: false,
  role: { value: role },
  name: { value: name },
  properties: Object.entries(is).map(([key, value]) => ({ name: key, value: { value } })),
  backendDOMNodeId: Number(nodeId),
  ...more,
});
const root = (...childIds: readonly string[]): AxNode => node('1', 'RootWebArea', 'Page', { childIds: [...childIds] });

describe('a page', () => {
  it('is its controls in the order of the page, and lines of text', () => {
    const page = axPageOf([
      root('2', '3', '4'),
      node('4', 'button', 'Send', { childIds: ['9'], is: { disabled: true } }),
      node('2', 'heading', 'Hi', { childIds: ['5'] }),
      node('3', 'paragraph', '', { childIds: ['6', '7'] }),
      node('5', 'StaticText', 'Hi  there'),
      node('6', 'StaticText', 'See'),
      node('7', 'link', 'more', { childIds: ['8'], is: { url: 'https://example.org/' } }),
      node('8', 'StaticText', 'more'),
      node('9', 'StaticText', 'Send'),
    ]);
    expect(page.text).toBe('Hi there\nSee more\nSend');
    expect(page.controls.map(({ type, name, url, state }) => [type, name, url, state])).toEqual([
      ['Hyperlink', 'more', 'https://example.org/', []],
      ['Button', 'Send', undefined, ['disabled']],
    ]);
  });

  it('is read where a property points to others and has no value', () =>
    expect(
      AxNode.safeParse({
        nodeId: '1',
        ignored: false,
        properties: [{ name: 'labelledby', value: { type: 'idrefList' } }],
      }).success,
    ).toBe(true));

  it('tells nothing of what is in fields, and nothing that is left out', () => {
    const page = axPageOf([
      root('2', '3'),
      node('2', 'textbox', 'Password', { childIds: ['4'] }),
      node('3', 'button', 'Hidden', { ignored: true }),
      node('4', 'StaticText', '•••'),
    ]);
    expect([page.text, page.controls.map(({ name }) => name)]).toEqual(['', ['Password']]);
  });

  it('is bounded, and ends, whatever it says of itself', () => {
    const ids = Array.from({ length: 2_000 }, (_, at) => `${at + 2}`);
    const wide = axPageOf([root(...ids), ...ids.map((id) => node(id, 'button', 'x'.repeat(10_000)))]);
    expect([wide.controls.length, wide.isCut]).toEqual([PAGE_LIMITS.controlsMax, true]);
    expect(wide.controls[0]?.name.length).toBeLessThanOrEqual(160);
    const long = axPageOf([root('2'), node('2', 'StaticText', 'y'.repeat(100_000))]);
    expect([long.text.length, long.isCut]).toEqual([PAGE_LIMITS.textCharsMax, true]);
    expect(axPageOf([node('1', 'group', '', { childIds: ['1'] })]).text).toBe('');
    const deep = ids.map((id, at) => node(id, 'group', '', { childIds: ids.slice(at + 1, at + 2) }));
    expect(axPageOf([root('2'), ...deep]).controls).toEqual([]);
    expect(axPageOf([]).controls).toEqual([]);
  });

  it('has a control that is the same only with the same role, name and address', () => {
    const one = (role: string, name: string, url?: string) =>
      axPageOf([root('2'), node('2', role, name, { is: url === undefined ? {} : { url } })]).controls[0];
    const details = one('link', 'Details', 'https://a/');
    if (details === undefined) throw new Error('it is not there');
    expect(isSamePageControl(details, one('link', 'Details', 'https://a/'))).toBe(true);
    for (const other of [
      one('link', 'Pay', 'https://a/'),
      one('link', 'Details', 'https://b/'),
      one('button', 'Details'),
      undefined,
    ])
      expect(isSamePageControl(details, other)).toBe(false);
  });

  it.each<[string | undefined, boolean]>([
    ['https://a/', true],
    ['HTTP://a/', true],
    [undefined, true],
    ['javascript:x', false],
    ['file:///etc/passwd', false],
    ['mailto:a@b', false],
    ['', false],
  ])('leads to a server by %j: %s', (url, does) => expect(leadsToServer({ url })).toBe(does));
});
