/** The directory of the embedded system: where it is and what lies where. Who runs in it is of the room `processes`. */
export * from './admin-token.adapter.js';
export * from './endpoints.js';
export * from './home.config.js';
export { ADMIN_TOKEN_HASH, homeAt, type Home } from './home.js';
export * from './stores.adapter.js';
export * from './whole-file.adapter.js';
