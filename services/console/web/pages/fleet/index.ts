export * from './device-state.js';
export { FleetPage } from './fleet-page.js';
export { ScreenLink } from './screen-link.js';
export { ScreenPage } from './screen-page.js';
