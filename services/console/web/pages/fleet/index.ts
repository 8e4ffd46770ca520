export * from './device-state.js';
export { FleetPage } from './fleet-page.js';
