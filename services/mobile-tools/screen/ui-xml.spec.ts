import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { screenOf } from './controls.js';
import { parseHierarchy } from './ui-xml.js';

const HEAD = `<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>`;
const node = (more: string, children = ''): string =>
  `<node index="0" text="" resource-id="" class="android.view.View" package="com.example" content-desc="" clickable="false" enabled="true" bounds="[0,0][100,200]" ${more}>${children}</node>`;

describe('a hierarchy', () => {
  it('is read with all that its nodes say', () => {
    const xml = `${HEAD}<hierarchy rotation="0"><node text="Gr&#252;&amp;&lt;&quot;&#55357;&#56832;" resource-id="a:id/b" class="android.widget.Button" package="com.example" content-desc="it's" clickable="true" enabled="true" bounds="[1,2][30,40]" /></hierarchy>\n`;
    expect(parseHierarchy(xml)).toEqual([
      {
        type: 'Button',
        application: 'com.example',
        resource: 'a:id/b',
        text: 'Grü&<"😀',
        description: "it's",
        flags: new Set(['clickable', 'enabled']),
        rect: [1, 2, 30, 40],
        children: [],
      },
    ]);
  });

  it('keeps who is in whom', () => {
    const [root] = parseHierarchy(`<hierarchy>${node('', `${node('', node(''))}${node('')}`)}</hierarchy>`);
    expect(root?.children.map(({ children }) => children.length)).toEqual([1, 0]);
  });

  it('may be empty', () => {
    expect(parseHierarchy(`${HEAD}<hierarchy rotation="0" />`)).toEqual([]);
    expect(screenOf([])).toMatchObject({ application: '', controls: [], more: 0 });
  });

  it.each([
    ['nothing', ''],
    ['a text', 'ERROR: could not get idle state.'],
    ['one that is cut off', `<hierarchy>${node('').slice(0, -7)}`],
    ['one without its end', `<hierarchy>${node('')}`],
    ['a document type', `<!DOCTYPE a [<!ENTITY b "c">]><hierarchy>${node('')}</hierarchy>`],
    ['an entity of its own', `<hierarchy>${node('').replace('text=""', 'text="&xxe;"')}</hierarchy>`],
    [
      'an entity called like what every object has',
      `<hierarchy>${node('').replace('text=""', 'text="&valueOf;"')}</hierarchy>`,
    ],
    ['a number beyond all characters', `<hierarchy>${node('').replace('text=""', 'text="&#x110000;"')}</hierarchy>`],
    ['a comment', `<hierarchy><!-- a -->${node('')}</hierarchy>`],
    ['text between nodes', `<hierarchy>a${node('')}</hierarchy>`],
    ['a node that says something twice', `<hierarchy>${node('text="a"')}</hierarchy>`],
    ['something behind it', `<hierarchy>${node('')}</hierarchy>${node('')}`],
    ['two of them', '<hierarchy></hierarchy><hierarchy></hierarchy>'],
    ['one that is too deep', `<hierarchy>${'<node>'.repeat(300)}${'</node>'.repeat(300)}</hierarchy>`],
    ['one of too many', `<hierarchy>${'<node/>'.repeat(20_001)}</hierarchy>`],
  ])('is not made of %s', (_, xml) => expect(() => parseHierarchy(xml)).toThrow('cannot be read'));

  it('is read or refused, whatever an application writes', () => {
    const piece = fc.constantFrom(
      '<hierarchy>',
      '</hierarchy>',
      '<node ',
      '/>',
      '</node>',
      'text="',
      '"',
      "'",
      ' a=',
      '&lt;',
      '&',
      ';',
      'x',
      '\n',
    );
    const text = fc.array(piece, { maxLength: 40 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(text, (xml) => {
        try {
          return Array.isArray(parseHierarchy(xml));
        } catch (error) {
          return error instanceof Error && error.message.includes('cannot be read');
        }
      }),
    );
  });

  it('never lets a text out of its place', () => {
    const escaped = (text: string): string =>
      text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (text) => {
        const xml = `<hierarchy><node class="a.B" text="${escaped(text)}" bounds="[0,0][9,9]"/></hierarchy>`;
        expect(parseHierarchy(xml).map((one) => one.text)).toEqual([text]);
      }),
    );
  });
});

describe('a screen', () => {
  const shown = (...nodes: string[]) => screenOf(parseHierarchy(`<hierarchy>${node('', nodes.join(''))}</hierarchy>`));
  const field = (more: string) =>
    `<node class="android.widget.EditText" resource-id="a:id/pin" enabled="true" bounds="[0,0][9,9]" ${more} />`;

  it('has what can be used or read, with numbers of its own', () => {
    const screen = shown(
      node('').replace('text=""', 'text="Hello"'),
      node(''),
      node('').replace('clickable="false"', 'clickable="true"'),
      node('').replace('text=""', 'text="gone"').replace('[100,200]', '[0,0]'),
    );
    expect(screen.controls.map(({ id, name, type }) => [id, name, type])).toEqual([
      ['1', 'Hello', 'View'],
      ['2', 'View', 'View'],
    ]);
    expect(screen).toMatchObject({ application: 'com.example', rect: [0, 0, 100, 200], more: 0 });
  });

  it('calls a field by what it is for, and tells what is in it', () => {
    expect(shown(field('text="4711"')).controls).toMatchObject([{ name: 'pin', value: '4711', state: [] }]);
  });

  it('never tells what is in a field for a password', () => {
    const { controls } = shown(field('text="4711" password="true"'));
    expect(controls).toMatchObject([{ name: 'pin', state: ['password'] }]);
    expect(JSON.stringify(controls)).not.toContain('4711');
  });

  it('has at most 500 controls, and says how many more there are', () => {
    const many = Array.from({ length: 600 }, () => field(''));
    expect(shown(...many)).toMatchObject({ more: 100, controls: { length: 500 } });
  });
});
