/**
 * Processes of one home: which there are to be, starting one and starting it again, its log, who holds the home, what an
 * earlier system has left there.
 */
export { lockHome, supervisorOf } from './home-lock.adapter.js';
export { StartedProcesses, endEverythingLeft, endLeftServices, processesOf } from './leftovers.adapter.js';
export { startNodeProcess } from './node-process.runner.js';
export type { NodeProcess } from './node-process.runner.js';
export { SERVICES_WITH_DATABASE, WITH_MODEL, instancesOf, localDevices, portChoice } from './plan.js';
export type { Instance, LocalDevice, PortName, UpOptions } from './plan.js';
export { endProcess } from './process-identity.adapter.js';
export { Supervised } from './supervised.runner.js';
export type { Running } from './supervised.runner.js';
