/**
 * Processes of one home: which there are to be, starting one and starting it again, its log, who holds the home, what an
 * earlier system has left there.
 */
export * from './home-lock.adapter.js';
export * from './leftovers.adapter.js';
export * from './node-process.runner.js';
export {
  SERVICES,
  SERVICES_WITH_DATABASE,
  WITH_MODEL,
  instancesOf,
  localDevices,
  portChoice,
  type Instance,
  type LocalDevice,
  type PortName,
  type UpOptions,
} from './plan.js';
export { endProcess } from './process-identity.adapter.js';
export * from './supervised.runner.js';
