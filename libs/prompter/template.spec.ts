import { describe, expect, it } from '@jest/globals';
import { TemplateBook, TemplateError, type PromptMode, type PromptTemplate } from './template.js';

const HASH = 'a'.repeat(64);
const template = (id: string, mode: PromptTemplate['mode'], parts: Record<string, string>): PromptTemplate => ({
  id,
  mode,
  hash: HASH,
  parts,
});
const book = (...templates: PromptTemplate[]) => new TemplateBook({ templates, examples: [] });
const rendered = (text: string, values: Record<string, unknown> = {}): string => {
  const one = template('a', 'any', { system: text });
  return book(one).render(one, 'system', values);
};

describe('TemplateBook', () => {
  it('puts values in as they are: they are no templates, and nothing in them is escaped', () => {
    const hostile = `{{ secret }} {% include 'a/system' %} <b>&amp; \u001B[2J\u202E {%- comment -%}`;
    expect(rendered('[{{ value }}]', { value: hostile, secret: 's' })).toBe(`[${hostile}]`);
  });

  it('takes in shared parts, which see the same values, and says which templates it used', () => {
    const shared = template('shared', 'any', { hello: 'Hello {{ name }}.' });
    const one = template('a', 'visual', { system: `{% include 'shared/hello' %} Bye.` });
    const both = book(shared, one);
    expect(both.render(one, 'system', { name: 'you' })).toBe('Hello you. Bye.');
    expect(both.uses(one)).toEqual([
      { id: 'a.visual', hash: HASH },
      { id: 'shared', hash: HASH },
    ]);
  });

  it.each<[PromptMode, PromptTemplate['mode'][], PromptTemplate['mode']]>([
    ['visual', ['visual', 'nonvisual'], 'visual'],
    ['nonvisual', ['visual', 'nonvisual'], 'nonvisual'],
    ['visual', ['any'], 'any'],
    ['visual', ['nonvisual'], 'nonvisual'],
  ])('gives a %s model out of %j the template for %s', (wanted, there, found) => {
    expect(book(...there.map((mode) => template('a', mode, { system: mode }))).template('a', wanted).mode).toBe(found);
  });

  it('has nothing for a model without eyes where a template needs images', () => {
    const visual = book(template('a', 'visual', { system: 'x' }));
    expect(() => visual.template('a', 'nonvisual')).toThrow('there is no such template; there is one for visual only');
    expect(() => visual.template('b', 'visual')).toThrow('there is no such template; there are a');
    expect(() => visual.examples('e', 'visual')).toThrow(/no such set of examples/u);
  });

  it('says which variable or part is missing', () => {
    expect(() => rendered('{{ nobody }}')).toThrow(
      /template a, part system: cannot be rendered: undefined variable: nobody/u,
    );
    const one = template('a', 'any', { system: 'x' });
    expect(() => book(one).render(one, 'user', {})).toThrow('template a, part user: is missing; there are system');
  });

  it.each([
    '{% if %}',
    '{% layout "x" %}',
    '{% assign x = 1 %}',
    `{{ 'now' | date: '%s' }}`,
    '{% render "a/system" %}',
    '{{ x',
  ])('refuses %s: a template chooses, repeats and includes, nothing else', (text) => {
    expect(() => rendered(text)).toThrow(TemplateError);
  });
});
