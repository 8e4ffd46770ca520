import { sampleRun } from '#libs/testing';

/** A small finished run, and how an altered one is sealed. */
export const { SAMPLE_REQUEST, SAMPLE_RUN, sealRun, sealAttempt, sampleEvents, sampleRecords } = sampleRun;
