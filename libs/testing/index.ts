export { startTestNats, type TestNats, type TestNatsOptions } from './nats-server.js';
export { startTestPostgres, type TestPostgres } from './postgres.js';
export { connectDevice, instantDevice, type InstantDeviceOptions } from './instant-device.js';
export { FakeDevice, type FakeDeviceOptions } from './fake-device.js';
export { attemptCommitsOf, generateHistory, runCommitsOf, type HistoryOptions, type HistoryStep } from './histories.js';
