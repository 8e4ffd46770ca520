/** What a device is: what the administrator, its kind and the device itself say, merged by who wins. */
export * from './device-words.js';
export {
  cardMemoryMb,
  givenValues,
  mergeSaid,
  numberOf,
  PROFILE_SOURCES,
  profileEntries,
  profileTree,
  type ProfileEntry,
  type ProfileSource,
  type Statement,
  type SaidBy,
} from './entries.js';
