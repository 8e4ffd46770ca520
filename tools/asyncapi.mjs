// Writes proto/asyncapi.json from the schemas: `npm run build && node tools/asyncapi.mjs`. A test fails while it is stale.
import { readFileSync, writeFileSync } from 'node:fs';
import { asyncApiDocument } from '../dist/proto/asyncapi.js';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const file = new URL('../proto/asyncapi.json', import.meta.url);
writeFileSync(file, `${JSON.stringify(asyncApiDocument(version), null, 2)}\n`);
