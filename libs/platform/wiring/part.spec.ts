import { Module, type Provider } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { describe, expect, it } from '@jest/globals';
import { part, token } from './part.js';

const LAST = token<object>('LAST');
const BARE = token<string>('BARE');

/** What happened to the parts, in order. */
async function lifeOf(providers: (happened: string[]) => Provider[]): Promise<string[]> {
  const happened: string[] = [];
  class Service {}
  Module({ providers: providers(happened) })(Service);
  const app = await NestFactory.createApplicationContext(Service, { logger: false, abortOnError: false });
  await app.close();
  return happened;
}

class First {
  readonly #happened: string[];

  constructor(happened: string[]) {
    this.#happened = happened;
  }

  async begin(): Promise<void> {
    await Promise.resolve();
    this.#happened.push('first begins');
  }

  leave(): void {
    this.#happened.push('first hears of the end');
  }

  end(): void {
    this.#happened.push('first ends');
  }
}

describe('a part', () => {
  it('begins after what it needs and ends before it, and one without a life is what it is', async () => {
    const happened = await lifeOf((said) => [
      part(LAST, [First, BARE], (_, bare) => ({
        begin: () => said.push(`last begins with ${bare}`),
        end: async () => {
          await Promise.resolve();
          said.push('last ends');
        },
      })),
      part(First, [], () => new First(said)),
      part(BARE, [], () => 'text'),
    ]);
    expect(happened).toEqual([
      'first begins',
      'last begins with text',
      'first hears of the end',
      'last ends',
      'first ends',
    ]);
  });

  it('gets what it needs by name, too', async () => {
    const happened = await lifeOf((said) => [
      part(LAST, { text: BARE, first: First }, ({ text, first }) => ({
        begin: () => said.push(text, first.constructor.name),
      })),
      part(First, [], () => new First([])),
      part(BARE, [], () => 'text'),
    ]);
    expect(happened).toEqual(['text', 'First']);
  });
});
