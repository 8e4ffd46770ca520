/** Figures over many runs: those of each run as rows, and adding them up for whoever asks. */
export * from './statistics.projector.js';
export * from './statistics-reader.adapter.js';
