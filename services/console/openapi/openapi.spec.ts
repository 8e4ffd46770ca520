import { describe, expect, it } from '@jest/globals';
import { openApi } from './openapi.js';

describe('the description of the HTTP interface', () => {
  it('refers only to what it holds', () => {
    const document = openApi();
    const text = JSON.stringify(document);
    const { schemas } = document['components'] as { schemas: Record<string, unknown> };
    const references = new Set([...text.matchAll(/"\$ref":"([^"]*)"/gu)].map(([, reference]) => reference));
    expect([...references].filter((reference) => !reference?.startsWith('#/components/schemas/'))).toEqual([]);
    expect(
      [...references].map((reference) => reference?.split('/')[3]).filter((name) => !(name && name in schemas)),
    ).toEqual([]);
    expect(Object.keys(document['paths'] as object)).toEqual(
      expect.arrayContaining(['/v1/runs/{id}/events', '/v1/runs/{id}/output']),
    );
  });

  it('describes every command that changes a run, with its body and the header that makes it safe to repeat', () => {
    const { paths } = openApi() as { paths: Record<string, { post?: Operation }> };
    interface Operation {
      requestBody?: { required: boolean; content: Record<string, { schema: { $ref: string } }> };
      parameters: { name: string }[];
      responses: object;
    }
    const described = ['cancel', 'pause', 'resume', 'fork', 'edits', 'tasks/{taskId}/retry'].map((name) => {
      const { post } = paths[`/v1/runs/{id}/${name}`] ?? {};
      const schema = post?.requestBody?.content['application/json']?.schema.$ref.split('/').at(-1);
      return [name, schema, post?.requestBody?.required, post?.parameters.map(({ name }) => name).join(' ')];
    });
    expect(described).toEqual([
      ['cancel', 'Reason', false, 'id Idempotency-Key'],
      ['pause', 'Reason', false, 'id Idempotency-Key'],
      ['resume', undefined, undefined, 'id Idempotency-Key'],
      ['fork', 'Fork', true, 'id Idempotency-Key'],
      ['edits', 'Proposal', true, 'id Idempotency-Key'],
      ['tasks/{taskId}/retry', undefined, undefined, 'id taskId Idempotency-Key'],
    ]);
    const statuses = Object.keys(paths['/v1/runs/{id}/edits']?.post?.responses ?? {});
    expect(statuses).toEqual(['200', '400', '401', '403', '404', '409', '413', '429', '503', '507']);
  });
});
