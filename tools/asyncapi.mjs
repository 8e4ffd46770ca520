// Writes proto/asyncapi.json from the schemas: `npm run build && node tools/asyncapi.mjs`. A test fails while it is stale.
import { writeFileSync } from 'node:fs';
import { asyncApiDocument } from '../dist/proto/asyncapi.js';

const file = new URL('../proto/asyncapi.json', import.meta.url);
writeFileSync(file, `${JSON.stringify(asyncApiDocument(), null, 2)}\n`);
