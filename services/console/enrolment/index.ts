/** How a machine becomes a device: enrolled, with the lines to paste there. What the registry decides about it is asked of the registry. */
export * from './enrolment.js';
export * from './enrolment.controller.js';
export * from './offered.adapter.js';
