// Writes the types of the HTTP interface for the web application: `npm run build && node tools/api-types.mjs`. A test fails while they are stale.
import { writeFileSync } from 'node:fs';
import { apiTypes, openApi } from '../dist/services/console/openapi/index.js';

writeFileSync(new URL('../services/console/web/api/schema.d.ts', import.meta.url), apiTypes(openApi()));
