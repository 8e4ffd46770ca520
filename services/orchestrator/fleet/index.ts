/** The fleet as the scheduler sees it: profiles, members, running tasks. Devices are the registry's; nothing here is recorded. */
export * from './fleet.consumer.js';
export * from './fleet.js';
