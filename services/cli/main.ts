/**
 * The program `orrery`: its commands, what they print, and the embedded system that `orrery up` runs. What a service or another
 * program needs as well is in libs; here nobody decides about a run, and nothing is stored but files that a person asked for.
 */
import './process.runner.js';
