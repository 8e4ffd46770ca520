import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterAll, describe, expect, it } from '@jest/globals';
import { loadChatModel, loadEmbedder, loadModelsInUse } from '../load.adapter.js';
import { OpenAiEmbedder } from '../openai/embedder.adapter.js';
import { OpenAiChatModel } from '../openai/chat-model.adapter.js';
import { loadModelSettings } from './settings.adapter.js';
import { ModelSettingsError } from './settings.js';

const KEY = 'sk-canary-5f1d0c77a9';
const directory = mkdtempSync(join(tmpdir(), 'orrery-models-'));
afterAll(() => rmSync(directory, { recursive: true }));

let files = 0;
function file(text: string): string {
  const path = join(directory, `models-${files++}.yaml`);
  writeFileSync(path, text);
  return path;
}
const load = (yaml: string, environment: Record<string, string> = {}) =>
  loadModelSettings({ ORRERY_MODEL_FILE: file(yaml), ...environment });

function refusal(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    expect(error).toBeInstanceOf(ModelSettingsError);
    return (error as Error).message;
  }
  return 'nothing was refused';
}

describe('the environment', () => {
  it('that names no model means none', () => {
    expect(loadModelSettings({})).toBeNull();
    expect(
      loadModelSettings({ OPENAI_API_KEY: KEY, OPENAI_BASE_URL: 'http://127.0.0.1:1/v1', ORRERY_MODEL: '' }),
    ).toBeNull();
    expect(loadChatModel({})).toBeNull();
  });

  it('may say in which file the key lies', () => {
    const place = { OPENAI_BASE_URL: 'http://127.0.0.1:1/v1', ORRERY_MODEL: 'm' };
    const settings = loadModelSettings({ ...place, OPENAI_API_KEY_FILE: file(`${KEY}\n`) });
    expect(settings?.of('x').key?.reveal()).toBe(KEY);
    const said = refusal(() => loadModelSettings({ ...place, OPENAI_API_KEY_FILE: '/nowhere/key' }));
    expect(said).toBe('default.key.env: /nowhere/key cannot be read (ENOENT).');
  });

  it('is enough', () => {
    const settings = loadModelSettings({
      OPENAI_BASE_URL: 'http://127.0.0.1:1/v1/',
      OPENAI_API_KEY: `${KEY}\n`,
      ORRERY_MODEL: 'model-a',
    });
    expect(settings?.of('LinuxAgent')).toMatchObject({
      baseUrl: 'http://127.0.0.1:1/v1',
      model: 'model-a',
      supportsSchema: true,
      temperature: null,
      maxTokens: null,
      timeoutMs: 120_000,
      retries: 2,
      backup: null,
    });
    expect(settings?.of('LinuxAgent').key?.reveal()).toBe(KEY);
    expect(loadChatModel({ ORRERY_MODEL: 'model-a' })).toBeInstanceOf(OpenAiChatModel);
  });

  it('needs no key, for endpoints that want none', () => {
    expect(loadModelSettings({ ORRERY_MODEL: 'm' })?.of('x')).toMatchObject({
      key: null,
      baseUrl: 'https://api.openai.com/v1',
    });
  });
});

describe('a file', () => {
  const yaml = `
default:
  baseUrl: https://one.example/v1
  key: { env: ONE_KEY }
  model: model-a
  timeoutMs: 60000
  backup: { model: model-b }
agents:
  LinuxAgent: { temperature: 0.2, model: model-c }
  HostAgent: { baseUrl: https://two.example/v1, backup: { baseUrl: https://three.example/v1, model: model-d } }
prices:
  model-a: { promptPerMillion: 2.5, completionPerMillion: 10 }
`;
  const settings = load(yaml, { ONE_KEY: KEY, ORRERY_MODEL: 'of-the-environment', OPENAI_API_KEY: 'not-this-one' });

  it('counts before the environment', () => {
    expect(settings?.of('whoever')).toMatchObject({
      model: 'model-a',
      baseUrl: 'https://one.example/v1',
      temperature: null,
    });
    expect(settings?.of('whoever').key?.reveal()).toBe(KEY);
    expect(settings?.prices).toEqual({ 'model-a': { promptPerMillion: 2.5, completionPerMillion: 10 } });
  });

  it('lets an agent say what is different', () => {
    expect(settings?.of('LinuxAgent')).toMatchObject({
      baseUrl: 'https://one.example/v1',
      model: 'model-c',
      temperature: 0.2,
      timeoutMs: 60_000,
      backup: { baseUrl: 'https://one.example/v1', model: 'model-b' },
    });
    expect(settings?.of('LinuxAgent').backup?.key?.reveal()).toBe(KEY);
  });

  it('gives a key to no place that it was not given for', () => {
    expect(settings?.of('HostAgent')).toMatchObject({ baseUrl: 'https://two.example/v1', model: 'model-a', key: null });
    expect(settings?.of('HostAgent').backup).toMatchObject({ baseUrl: 'https://three.example/v1', key: null });
    const other = load('default: { baseUrl: "https://one.example/v1", model: m }', { OPENAI_API_KEY: KEY });
    expect(other?.of('x').key).toBeNull();
  });

  it('may name a variable whose value lies in a file', () => {
    const environment = { TEAM_KEY_FILE: file(`${KEY}\n`) };
    expect(load('default: { model: m, key: { env: TEAM_KEY } }', environment)?.of('x').key?.reveal()).toBe(KEY);
  });

  it('may name a file with the key', () => {
    const key = file(`${KEY}\n`);
    expect(load(`default: { model: m, key: { file: ${key} } }`)?.of('x').key?.reveal()).toBe(KEY);
  });

  it('does not know agents that objects have by themselves', () => {
    expect(settings?.of('constructor').model).toBe('model-a');
  });

  it('shows no key', () => {
    expect(
      `${JSON.stringify(settings)} ${inspect(settings, { depth: 9 })} ${JSON.stringify(settings?.all)}`,
    ).not.toContain(KEY);
  });
});

describe('embeddings', () => {
  it('are made by nobody unless it is said by whom', () => {
    expect(load('default: { model: m }')?.embedding).toBeNull();
    expect(loadModelSettings({ ORRERY_EMBEDDING_MODEL: 'points' })).toBeNull();
    expect(loadEmbedder({ ORRERY_MODEL: 'm' })).toBeNull();
  });

  it('are made where the default model is, with its key', () => {
    const environment = { ORRERY_MODEL: 'm', OPENAI_API_KEY: KEY, ORRERY_EMBEDDING_MODEL: 'points' };
    const embedding = loadModelSettings({ ...environment, OPENAI_BASE_URL: 'http://127.0.0.1:1/v1' })?.embedding;
    expect(embedding).toEqual({
      baseUrl: 'http://127.0.0.1:1/v1',
      key: expect.anything(),
      model: 'points',
      dimensions: null,
      timeoutMs: 10_000,
      similarityMin: 0.3,
    });
    expect(embedding?.key?.reveal()).toBe(KEY);
    expect(loadEmbedder(environment)).toBeInstanceOf(OpenAiEmbedder);
  });

  it('are made as the file says, which counts before the environment', () => {
    const yaml = `
default: { model: m, key: { env: ONE_KEY } }
embedding: { model: dots, baseUrl: "https://two.example/v1", key: { env: TWO_KEY }, dimensions: 512, timeoutMs: 500, similarityMin: 0.7 }
`;
    const settings = load(yaml, { ONE_KEY: 'one', TWO_KEY: KEY, ORRERY_EMBEDDING_MODEL: 'points' });
    expect(settings?.embedding).toMatchObject({
      model: 'dots',
      baseUrl: 'https://two.example/v1',
      dimensions: 512,
      timeoutMs: 500,
      similarityMin: 0.7,
    });
    expect(settings?.embedding?.key?.reveal()).toBe(KEY);
    expect(load('default: { model: m }\nembedding: {}', { ORRERY_EMBEDDING_MODEL: 'points' })?.embedding?.model).toBe(
      'points',
    );
  });

  it('take a key to no place that it was not given for', () => {
    const yaml =
      'default: { model: m, key: { env: ONE_KEY } }\nembedding: { model: p, baseUrl: "https://two.example" }';
    expect(load(yaml, { ONE_KEY: KEY })?.embedding).toMatchObject({ baseUrl: 'https://two.example', key: null });
  });
});

describe('settings that cannot be used are refused with their place', () => {
  it.each([
    ['an unknown field', 'default: { modell: m }', /: default unknown field "modell"; did you mean "model"\?$/u],
    [
      'a wrong number',
      'default: { model: m, retries: 99 }',
      /: default\.retries must be a whole number from 0 to 10\.$/u,
    ],
    [
      'a wrong agent',
      'agents: { LinuxAgent: { temperature: warm } }',
      /: agents\.LinuxAgent\.temperature must be a number from 0 to 2\.$/u,
    ],
    [
      'a wrong URL',
      'default: { baseUrl: "ftp://x" }',
      /: default\.baseUrl must be a URL that starts with http:\/\/ or https:\/\/\.$/u,
    ],
    [
      'a password in a URL',
      `default: { baseUrl: "https://u:${KEY}@x" }`,
      /: default\.baseUrl must be a URL without user, password or query/u,
    ],
    [
      'a key in the file',
      `default: { model: m, key: ${KEY} }`,
      /: default\.key must be \{env: NAME\} or \{file: PATH\}/u,
    ],
    [
      'a variable that is not set',
      'default: { model: m, key: { env: NOPE } }',
      /^default\.key\.env names the variable NOPE, which is not set\.$/u,
    ],
    [
      'a key file that is not there',
      'default: { model: m, key: { file: /nowhere/k } }',
      /^default\.key\.file: \/nowhere\/k cannot be read \(ENOENT\)\.$/u,
    ],
    [
      'no model at all',
      'default: { temperature: 0 }',
      /^default\.model is not set; it must be the name of a model\.$/u,
    ],
    [
      'embeddings of no model',
      '{ default: { model: m }, embedding: { dimensions: 9 } }',
      /^embedding\.model is not set; it must be the name of a model that makes embeddings\.$/u,
    ],
    [
      'embeddings of too many dimensions',
      '{ default: { model: m }, embedding: { model: p, dimensions: 9000 } }',
      /: embedding\.dimensions must be a whole number from 1 to 8192\.$/u,
    ],
    [
      'a likeness that cannot be',
      '{ default: { model: m }, embedding: { model: p, similarityMin: 2 } }',
      /: embedding\.similarityMin must be at most 1\.$/u,
    ],
    [
      'a key for embeddings that is not there',
      '{ default: { model: m }, embedding: { model: p, key: { env: NOPE } } }',
      /^embedding\.key\.env names the variable NOPE, which is not set\.$/u,
    ],
    ['no YAML', 'default: [', / is not YAML \(\w+\)\.$/u],
    ['a list', '- default', / .+\.$/u],
    [
      'a bad price',
      'prices: { m: { promptPerMillion: -1, completionPerMillion: 0 } }',
      /: prices\.m\.promptPerMillion .+\.$/u,
    ],
  ])('%s', (_, yaml, message) => {
    const said = refusal(() => load(yaml));
    expect(said).toMatch(message);
    expect(said).not.toContain(KEY);
  });

  it('a file that is not there', () => {
    expect(refusal(() => loadModelSettings({ ORRERY_MODEL_FILE: '/nowhere/m.yaml' }))).toBe(
      'ORRERY_MODEL_FILE: /nowhere/m.yaml cannot be read (ENOENT).',
    );
  });

  it('a base URL in the environment', () => {
    expect(refusal(() => loadModelSettings({ ORRERY_MODEL: 'm', OPENAI_BASE_URL: 'localhost:1' }))).toMatch(
      /^OPENAI_BASE_URL.* must be a URL/u,
    );
  });

  it.each([`${KEY} ${KEY}`, `${KEY}\n${KEY}`, 'schlüssel-geheim'])('a key that no header can carry', (key) => {
    const said = refusal(() => loadModelSettings({ ORRERY_MODEL: 'm', OPENAI_API_KEY: key }));
    expect(said).toBe(
      'default.key.env names OPENAI_API_KEY, which holds no key: a key is one word of printable ASCII.',
    );
  });
});

describe('what people are shown', () => {
  it('has the host of every endpoint and whether there is a key, and neither a key nor a path that could hold one', () => {
    const yaml = `
default: { baseUrl: "https://one.example:8443/${KEY}/v1", key: { env: ONE_KEY }, model: m, backup: { baseUrl: "http://two.example/${KEY}", model: b } }
agents: { LinuxAgent: { temperature: 0.2, maxTokens: 900 }, AppAgent: { seesPictures: true } }
embedding: { model: dots, key: { env: ONE_KEY } }
`;
    const { models, replays } = loadModelsInUse({ ORRERY_MODEL_FILE: file(yaml), ONE_KEY: KEY });
    expect(models).toMatchObject([
      {
        of: 'default',
        model: 'm',
        host: 'one.example:8443',
        hasKey: true,
        timeoutMs: 120_000,
        retries: 2,
        seesPictures: false,
      },
      { of: 'backup of default', model: 'b', host: 'two.example', hasKey: false, seesPictures: null },
      { of: 'LinuxAgent', model: 'm', temperature: 0.2, maxTokens: 900 },
      { of: 'backup of LinuxAgent', model: 'b' },
      { of: 'AppAgent', model: 'm', seesPictures: true },
      { of: 'backup of AppAgent' },
      { of: 'embedding', model: 'dots', host: 'one.example:8443', hasKey: true, seesPictures: null },
    ]);
    expect(replays).toBe(false);
    expect(JSON.stringify(models)).not.toContain(KEY);
  });

  it('is nothing where no model is configured', () => {
    expect(loadModelsInUse({ OPENAI_API_KEY: KEY })).toEqual({ models: [], replays: false });
  });
});
