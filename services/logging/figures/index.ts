/** How things are now, for those who collect metrics: runs and what they wait for, and how far everybody is on the bus. Nothing is stored. */
export * from './figures.adapter.js';
