/**
 * What a person can set in the file of the configuration, and where it points to.
 */
export {
  DeviceConfig,
  dataDirOf,
  readConfig,
  serverUrls,
  tlsSource,
  tokenSource,
  toolServersOf,
} from './device-client.config.js';
export type { TokenSource } from './device-client.config.js';
