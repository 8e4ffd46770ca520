/**
 * The directory of the embedded system: where it is and what lies where. Who runs in it is of the room `processes`.
 */
export { Endpoints, parseEndpoints, withoutCredentials } from './endpoints.js';
export { homeOf } from './home.config.js';
export { ADMIN_TOKEN_HASH, homeAt } from './home.js';
export type { Home } from './home.js';
export { isDirectory, isFile, makeDir, writeJson } from './whole-file.adapter.js';
