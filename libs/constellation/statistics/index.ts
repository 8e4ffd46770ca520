/** Figures over many runs, as the paper's evaluation has them: of one run, what each is and means, and of all that match. */
export * from './figures-csv.js';
export * from './figures-tally.js';
export * from './quantities.js';
export * from './run-figures.js';
