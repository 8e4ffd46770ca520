export { startTestNats, type TestNats, type TestNatsOptions } from './nats-server.js';
export { startTestPostgres, type TestPostgres } from './postgres.js';
