/** The desktop of `up --desktop`: what it needs on a machine, whose it is, and how it is started. */
export { desktopMachine } from './desktop-machine.adapter.js';
export { desktopPlan, type DesktopPlan } from './desktop-plan.js';
export * from './desktop.runner.js';
