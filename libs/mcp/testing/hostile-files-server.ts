// A tool server whose answers hold files that no honest server sends. Run by node as it is: types are stripped, nothing else.
import type * as Plain from './plain-server.js';

// By its file: Node finds it only under the name that it has here.
const { servePlain } = (await import(new URL('./plain-server.ts', import.meta.url).href)) as typeof Plain;

const png = Buffer.from('pixels').toString('base64');
const image = (more: object = {}): object => ({ type: 'image', data: png, mimeType: 'image/png', ...more });

const answers: Record<string, () => object[]> = {
  hostile: () => [
    image({ data: '<svg onload=alert(1)>' }),
    image({ mimeType: 'text/html\r\nSet-Cookie: a=b' }),
    { type: 'resource', resource: { uri: 'file:///../../etc/passwd', blob: png } },
    { type: 'resource_link', uri: 'file:///etc/shadow', name: '../../\u001b[2Jshadow' },
    { type: 'hologram', data: png },
    { type: 'text', text: 'that was all' },
  ],
  crowd: () => Array.from({ length: 100 }, () => image()),
  huge: () => [image({ data: 'A'.repeat(67_000_000) })],
};

servePlain({
  name: 'hostile',
  capabilities: { tools: {} },
  list: () => ({ tools: Object.keys(answers).map((name) => ({ name, inputSchema: { type: 'object' } })) }),
  call: ({ name }) => ({ content: answers[String(name)]?.() ?? [] }),
});
