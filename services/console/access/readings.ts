import type { AccessWhat, ActionName } from '#proto';

/** Which actions show what is recorded of a run: what each is as a record. Lists tell of no outputs. */
export const READINGS: Partial<Readonly<Record<ActionName, AccessWhat>>> = {
  'logging.run': 'RUN_READ',
  'logging.report': 'REPORT_READ',
  'logging.search': 'SEARCHED',
  WATCH: 'EVENTS_READ',
  READ_OUTPUT: 'OUTPUT_READ',
  READ_LOG: 'RUN_READ',
  EXPORT: 'EXPORTED',
  VERIFY: 'VERIFIED',
};
