export * from './phone-fault.js';
