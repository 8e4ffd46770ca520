// A tool server made with the SDK, whose tools answer with images, sounds and resources. Run by node as it is: types are stripped, nothing else.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';

const server = new McpServer({ name: 'media', version: '1' });
const pixels = Buffer.from('a screen of 1 pixel').toString('base64');
const sound = Buffer.from('a sound of 1 second').toString('base64');

server.registerResource('notes', 'notes://today', { mimeType: 'text/markdown' }, ({ href }) => ({
  contents: [{ uri: href, mimeType: 'text/markdown', text: '# Today\n' }],
}));

server.registerTool('look', { description: 'answers with one of each' }, () => ({
  content: [
    { type: 'text', text: 'this is the screen' },
    { type: 'image', data: pixels, mimeType: 'image/png' },
    { type: 'audio', data: sound, mimeType: 'audio/wav' },
    {
      type: 'resource',
      resource: { uri: 'log://x/errors%20of%20today.log', mimeType: 'text/plain', text: 'no errors\n' },
    },
    { type: 'resource_link', uri: 'notes://today', name: 'notes.md' },
    { type: 'resource_link', uri: 'file:///etc/passwd', name: 'passwd' },
  ],
}));

await server.connect(new StdioServerTransport());
